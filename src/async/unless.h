// SPDX-License-Identifier: Apache-2.0
// unless: a task and what makes it pointless.
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/deadline.h"
#include "async/task.h"

namespace cordon::async {

// Runs `task`, and cancels it when `over` has returned first and `is_over()` says so: then `why`.
// `over` may return early where it is cancelled, which is what `is_over` is for. As within(), this
// returns after the task has ended.
template <class T, class IsOver>
Task<T> unless(asio::awaitable<void> over, IsOver is_over, Task<T> task, Error why) {
  const auto executor = co_await asio::this_coro::executor;
  auto group = asio::experimental::make_parallel_group(
      asio::co_spawn(executor, detail::as_optional(std::move(task)), asio::deferred),
      asio::co_spawn(executor, std::move(over), asio::deferred));
  auto [order, failure, value, ignored] =
      co_await group.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  const bool is_cut = order[0] == 1 && is_over();
  if (failure && !(is_cut && is_cancellation(failure))) std::rethrow_exception(failure);
  if (value) co_return *std::move(value);
  co_return why;
}

}  // namespace cordon::async
