// SPDX-License-Identifier: Apache-2.0
#include "async/shielded.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "async/deadline.h"

namespace cordon::async {
namespace {

using namespace std::chrono_literals;

Task<int> slow(int* reached) {
  asio::steady_timer timer{co_await asio::this_coro::executor, 30ms};
  co_await timer.async_wait(asio::use_awaitable);
  ++*reached;
  co_return 7;
}

struct ShieldSeen {
  int reached = 0;
  int left = 0;
};

Task<int> in_time(Scope& scope, ShieldSeen* seen, std::chrono::milliseconds limit) {
  co_return co_await within(limit,
                            shielded<int>(scope, slow(&seen->reached), [seen] { ++seen->left; }));
}

TEST(Shielded, GivesWhatItsTaskGives) {
  asio::io_context loop;
  ShieldSeen seen;
  const auto result = block_on(loop, in_scope(in_time, &seen, 10'000ms));
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 7);
  EXPECT_EQ(seen.left, 0);
}

TEST(Shielded, GoesOnWhereItsCallerIsCancelled) {
  asio::io_context loop;
  ShieldSeen seen;
  const auto result = block_on(loop, in_scope(in_time, &seen, 1ms));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Errc::timeout);
  EXPECT_EQ(seen.left, 1);
  EXPECT_EQ(seen.reached, 1);
}

}  // namespace
}  // namespace cordon::async
