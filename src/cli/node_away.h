// SPDX-License-Identifier: Apache-2.0
// How a verb bears with a node that is away for a while.
#pragma once

#include <chrono>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/task.h"

namespace cordon::cli {

// The status of a node that starts or ends: worth another try.
inline constexpr int kUnavailable = 503;

// Between two tries.
inline asio::awaitable<void> pause() {
  constexpr std::chrono::milliseconds kPause{50};
  asio::steady_timer timer{co_await asio::this_coro::executor, kPause};
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace cordon::cli
