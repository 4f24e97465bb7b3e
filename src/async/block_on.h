// SPDX-License-Identifier: Apache-2.0
// block_on: runs a loop until one task, and all that it spawned, has ended.
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "async/deadline.h"
#include "async/task.h"

namespace cordon::async {

// For `main` and tests, never from inside the loop. Throws what leaves `task` or a task of a scope.
template <class T>
T block_on(asio::io_context& loop, asio::awaitable<T> task) {
  std::optional<T> value;
  std::exception_ptr failure;
  asio::co_spawn(loop, detail::as_optional(std::move(task)),
                 [&](std::exception_ptr bug, std::optional<T> result) {
                   failure = std::move(bug);
                   value = std::move(result);
                 });
  loop.restart();
  loop.run();
  if (failure) std::rethrow_exception(failure);
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): set unless a failure was thrown
  return *std::move(value);
}

}  // namespace cordon::async
