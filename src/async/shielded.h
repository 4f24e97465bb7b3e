// SPDX-License-Identifier: Apache-2.0
// shielded: a task that goes on to its end although whoever waits for it is cancelled.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/scope.h"
#include "async/task.h"

namespace cordon::async {
namespace detail {

template <class T>
struct Shielded {
  explicit Shielded(const asio::any_io_executor& executor)
      : done{executor, asio::steady_timer::time_point::max()} {}
  asio::steady_timer done;  // never fires: cancelled when there is a result
  std::optional<Result<T>> result;
};

template <class T>
asio::awaitable<void> run_shielded(Task<T> task, std::shared_ptr<Shielded<T>> state) {
  state->result.emplace(co_await std::move(task));
  state->done.cancel();
}

}  // namespace detail

// Runs `task` in `scope`. Where the caller is cancelled before it has ended, `when_left` is called
// and the task goes on: what it refers to outlives the scope, or is its own.
template <class T>
Task<T> shielded(Scope& scope, Task<T> task, std::function<void()> when_left) {
  class Leaving {
   public:
    explicit Leaving(std::function<void()> act) : act_{std::move(act)} {}
    Leaving(const Leaving&) = delete;
    Leaving& operator=(const Leaving&) = delete;
    ~Leaving() {
      if (act_) act_();
    }
    void stay() { act_ = nullptr; }

   private:
    std::function<void()> act_;
  };
  auto state = std::make_shared<detail::Shielded<T>>(co_await asio::this_coro::executor);
  scope.spawn(detail::run_shielded(std::move(task), state));
  Leaving leaving{std::move(when_left)};
  // A cancelled caller is thrown out of here.
  while (!state->result) co_await state->done.async_wait(asio::as_tuple(asio::use_awaitable));
  leaving.stay();
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the loop has ended
  co_return *std::move(state->result);
}

}  // namespace cordon::async
