// SPDX-License-Identifier: Apache-2.0
#include "node/spare_memory.h"

#include <chrono>
#include <malloc.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace cordon::node {
namespace {

// By itself glibc gives back what is free at the end of the heap. One small thing that lives there
// holds all that is free below it.
constexpr std::chrono::seconds kBetweenReturns{30};

}  // namespace

void keep_one_heap() { static_cast<void>(::mallopt(M_ARENA_MAX, 1)); }

asio::awaitable<void> give_back_memory() {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  for (;;) {
    timer.expires_after(kBetweenReturns);
    co_await timer.async_wait(asio::use_awaitable);
    static_cast<void>(::malloc_trim(0));
  }
}

}  // namespace cordon::node
