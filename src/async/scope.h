// SPDX-License-Identifier: Apache-2.0
// Scope: no task is orphaned. Spawning needs a scope, and a scope is joined before it dies.
#pragma once

#include <exception>
#include <list>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "async/task.h"

namespace cordon::async {

// Owns running tasks. Used from the loop's thread only; neither copied nor moved, because running
// tasks point to it. Prefer `in_scope`, which joins also when its own task is cancelled.
class Scope {
 public:
  explicit Scope(const asio::any_io_executor& executor);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  // Before: joined. A scope with running tasks ends the process: they would write into freed
  // memory.
  ~Scope();

  // Starts `task` at the loop's next turn. What it refers to outlives the scope. An exception that
  // leaves it is a bug and is thrown out of the loop's run(); the end of a cancelled task is not.
  // What it returns names the task until it has ended.
  using Child = std::list<asio::cancellation_signal>::iterator;
  Child spawn(asio::awaitable<void> task);

  // Asks one task to end, which has not ended yet. It catches the mark of its cancellation itself:
  // one that leaves it would count as a bug.
  static void cancel(Child child) { child->emit(asio::cancellation_type::terminal); }

  // Asks every running task to end, and every later one before it begins. `join` still has to
  // follow.
  void cancel();

  // Returns when no task is left, those included that tasks spawn meanwhile. If the caller is
  // cancelled while it waits, its children are cancelled and waited for all the same.
  asio::awaitable<void> join();

  std::size_t running() const noexcept { return children_.size(); }

 private:
  using Children = std::list<asio::cancellation_signal>;
  void ended(Child child, const std::exception_ptr& failure);

  asio::steady_timer idle_;  // never fires: cancelled to wake `join`
  Children children_;  // one signal for each running task; a list, because slots point into it
  Children ended_;     // left `children_` while `cancel` walked it
  bool cancelled_ = false;
  bool walking_ = false;
};

// Runs `body(scope, args...)`, which returns an awaitable of a value, and joins its scope however
// it ends: an exception or a cancellation cancels the children first. `body` is a function or a
// lambda without captures; `args` are moved into the frame and live as long as the children.
template <class Body, class... Args>
auto in_scope(Body body, Args... args)
    -> asio::awaitable<typename std::invoke_result_t<Body, Scope&, Args&...>::value_type> {
  using Value = typename std::invoke_result_t<Body, Scope&, Args&...>::value_type;
  Scope scope{co_await asio::this_coro::executor};
  std::optional<Value> value;
  std::exception_ptr failure;
  try {
    value.emplace(co_await body(scope, args...));
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) scope.cancel();
  // A cancelled coroutine throws at its next co_await. Not here: the children are still running.
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  co_await scope.join();
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (failure) std::rethrow_exception(failure);
  co_return *std::move(value);
}

}  // namespace cordon::async
