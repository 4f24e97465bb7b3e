// SPDX-License-Identifier: Apache-2.0
// Deadlines fire, or do not, and lose nothing.
#include "async/deadline.h"

#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>

#include "async/block_on.h"

namespace cordon::async {
namespace {

using std::chrono::milliseconds;

struct TimerSeen {
  bool cancelled = false;
  bool ended = false;
};

Task<std::unique_ptr<int>> value_after(milliseconds pause, TimerSeen& seen) {
  asio::steady_timer timer{co_await asio::this_coro::executor, pause};
  try {
    co_await timer.async_wait(asio::use_awaitable);
  } catch (const boost::system::system_error&) {
    seen.cancelled = true;
    throw;
  }
  seen.ended = true;
  co_return std::make_unique<int>(42);
}

TEST(Within, ReturnsTheValueOfATaskThatIsInTime) {
  asio::io_context loop{1};
  TimerSeen seen;
  const auto value =
      block_on(loop, within(std::chrono::hours{1}, value_after(milliseconds{1}, seen)));
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(**value, 42);
  EXPECT_FALSE(seen.cancelled);
}

TEST(Within, CancelsATaskThatIsLateAndSaysTimeout) {
  asio::io_context loop{1};
  TimerSeen seen;
  const auto value =
      block_on(loop, within(milliseconds{5}, value_after(std::chrono::hours{1}, seen)));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), Errc::timeout);
  EXPECT_EQ(value.error().text(), "not done within 5 ms");
  EXPECT_TRUE(seen.cancelled);
  EXPECT_FALSE(seen.ended);
}

Task<int> refuse() { co_return Error{Errc::denied, "no"}; }

TEST(Within, ReturnsTheErrorOfTheTaskUnchanged) {
  asio::io_context loop{1};
  const auto value = block_on(loop, within(std::chrono::hours{1}, refuse()));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), Errc::denied);
}

Task<int> value_or_a_bug() {
  throw std::logic_error{"bug"};
  co_return 0;
}

TEST(Within, PassesAnExceptionOnAtOnce) {
  asio::io_context loop{1};
  // An hour: the test would time out if the exception waited for the timer.
  EXPECT_THROW((void)block_on(loop, within(std::chrono::hours{1}, value_or_a_bug())),
               std::logic_error);
}

TEST(Within, TheInnerOfTwoDeadlinesCountsWhenItIsShorter) {
  asio::io_context loop{1};
  TimerSeen seen;
  auto inner = within(milliseconds{3}, value_after(std::chrono::hours{1}, seen));
  const auto value = block_on(loop, within(std::chrono::hours{1}, std::move(inner)));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().text(), "not done within 3 ms");
}

TEST(Within, TheOuterOfTwoDeadlinesCountsWhenItIsShorter) {
  asio::io_context loop{1};
  TimerSeen seen;
  auto inner = within(std::chrono::hours{1}, value_after(std::chrono::hours{1}, seen));
  const auto value = block_on(loop, within(milliseconds{3}, std::move(inner)));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().text(), "not done within 3 ms");
  EXPECT_TRUE(seen.cancelled);
}

}  // namespace
}  // namespace cordon::async
