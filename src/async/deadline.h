// SPDX-License-Identifier: Apache-2.0
// within: a task and the time it may take.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/task.h"

namespace cordon::async {
namespace detail {

// co_spawn makes an empty value where the coroutine threw, and a Result has none.
template <class T>
asio::awaitable<std::optional<T>> as_optional(asio::awaitable<T> task) {
  co_return std::optional<T>{co_await std::move(task)};
}

}  // namespace detail

// Runs `task`, and cancels it when `limit` has passed first: then Errc::timeout. Returns only after
// the task has ended, so nothing that it refers to needs to outlive this call; a task that ignores
// its cancellation is waited for, and its late value destroyed. Exceptions of the task pass
// through.
//
// Not asio's `task || timer`: that waits for the first *success*, and so would hold the exception
// of a task back until the timer fires.
template <class T>
Task<T> within(std::chrono::steady_clock::duration limit, Task<T> task) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer{executor, limit};
  auto group = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, detail::as_optional(std::move(task)), asio::deferred),
      timer.async_wait(asio::deferred));
  auto [order, failure, value, timer_error] =
      co_await group.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);

  // A timer that was cancelled first is the cancellation of our caller, not a deadline.
  const bool expired = order[0] == 1 && !timer_error;
  if (failure && !(expired && is_cancellation(failure))) std::rethrow_exception(failure);
  if (expired) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
    co_return Error{Errc::timeout, "not done within " + std::to_string(ms) + " ms"};
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): set unless a failure was thrown
  co_return *std::move(value);
}

}  // namespace cordon::async
