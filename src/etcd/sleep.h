// SPDX-License-Identifier: Apache-2.0
// Waiting before the next attempt.
#pragma once

#include <chrono>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "async/waiting.h"
#include "etcd/pause.h"

namespace cordon::etcd {

using SteadyClock = std::chrono::steady_clock;

inline asio::awaitable<void> sleep(std::chrono::milliseconds time) {
  asio::steady_timer timer{co_await asio::this_coro::executor, time};
  co_await timer.async_wait(async::kQuiet);
}

}  // namespace cordon::etcd
