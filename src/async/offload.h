// SPDX-License-Identifier: Apache-2.0
// offload: blocking work leaves the loop and its result comes back to it.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/task.h"

namespace cordon::async {
namespace detail {

template <class T>
struct Outcome {
  std::exception_ptr failure;
  std::optional<T> value;
};

template <class Work>
auto outcome_of(Work& work) noexcept -> Outcome<std::invoke_result_t<Work&>> {
  Outcome<std::invoke_result_t<Work&>> outcome;
  try {
    outcome.value.emplace(work());
  } catch (...) {
    outcome.failure = std::current_exception();
  }
  return outcome;
}

}  // namespace detail

// Calls `work` on a thread of `pool` and resumes the caller on its own executor with the value or
// the exception. `work` returns a value (usually a Result) and owns or outlives all that it uses:
// it runs beside the loop. It cannot be cancelled: a caller that is cancelled meanwhile gets the
// value first and notices at its next co_await. Before the loop dies, `pool` has been joined.
//
// Not co_spawn on the pool: cancelling the caller would then touch, from the loop's thread, the
// state of a coroutine that is running on the pool's.
template <class Work>
asio::awaitable<std::invoke_result_t<Work&>> offload(asio::thread_pool& pool, Work work) {
  using Value = std::invoke_result_t<Work&>;
  using Signature = void(std::exception_ptr, std::optional<Value>);
  auto initiate = [&pool](auto handler, Work job) {
    // Tracked: the loop must not run out of work while its answer is on the way.
    auto home = asio::prefer(asio::get_associated_executor(handler),
                             asio::execution::outstanding_work.tracked);
    asio::post(pool, [home = std::move(home), handler = std::move(handler),
                      job = std::move(job)]() mutable {
      auto outcome = detail::outcome_of(job);
      asio::post(home, [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
        std::move(handler)(std::move(outcome.failure), std::move(outcome.value));
      });
    });
  };
  std::optional<Value> value =
      co_await asio::async_initiate<const asio::use_awaitable_t<>&, Signature>(
          std::move(initiate), asio::use_awaitable, std::move(work));
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): set unless a failure was thrown
  co_return *std::move(value);
}

}  // namespace cordon::async
