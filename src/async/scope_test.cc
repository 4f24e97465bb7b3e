// SPDX-License-Identifier: Apache-2.0
// Scopes join, cancel and pass bugs on.
#include "async/scope.h"

#include <csignal>
#include <stdexcept>

#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"

namespace cordon::async {
namespace {

using std::chrono::milliseconds;

asio::awaitable<void> count_after(milliseconds pause, int& done) {
  asio::steady_timer timer{co_await asio::this_coro::executor, pause};
  co_await timer.async_wait(asio::use_awaitable);
  ++done;
}

asio::awaitable<void> sleep_for_ever(bool& cancelled) {
  asio::steady_timer timer{co_await asio::this_coro::executor, std::chrono::hours{24}};
  try {
    co_await timer.async_wait(asio::use_awaitable);
  } catch (const boost::system::system_error&) {
    cancelled = true;
    throw;
  }
}

asio::awaitable<void> fail_with_a_bug() {
  throw std::logic_error{"bug"};
  co_return;
}

Task<int> spawn_two_and_forget(Scope& scope, int& done) {
  scope.spawn(count_after(milliseconds{1}, done));
  scope.spawn(count_after(milliseconds{2}, done));
  co_return 7;
}

TEST(Scope, JoinsTasksThatNobodyElseRemembers) {
  asio::io_context loop{1};
  int done = 0;
  const Result<int> value = block_on(loop, in_scope(spawn_two_and_forget, std::ref(done)));
  EXPECT_EQ(*value, 7);
  EXPECT_EQ(done, 2);
}

asio::awaitable<void> spawn_grandchild(Scope& scope, int& done) {
  co_await count_after(milliseconds{1}, done);
  scope.spawn(count_after(milliseconds{1}, done));
}

Task<void> spawn_through_a_child(Scope& scope, int& done) {
  scope.spawn(spawn_grandchild(scope, done));
  co_return Status{};
}

TEST(Scope, JoinsTasksThatItsTasksSpawn) {
  asio::io_context loop{1};
  int done = 0;
  EXPECT_TRUE(block_on(loop, in_scope(spawn_through_a_child, std::ref(done))));
  EXPECT_EQ(done, 2);
}

Task<void> cancel_children(Scope& scope, bool& first, bool& second) {
  scope.spawn(sleep_for_ever(first));
  scope.spawn(sleep_for_ever(second));
  int waited = 0;
  co_await count_after(milliseconds{1}, waited);
  EXPECT_EQ(scope.running(), 2U);
  scope.cancel();
  co_await scope.join();
  EXPECT_EQ(scope.running(), 0U);
  co_return Status{};
}

TEST(Scope, CancelReachesEveryChild) {
  asio::io_context loop{1};
  bool first = false;
  bool second = false;
  EXPECT_TRUE(block_on(loop, in_scope(cancel_children, std::ref(first), std::ref(second))));
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

Task<void> cancel_before_the_start(Scope& scope, int& done) {
  scope.spawn(count_after(milliseconds{0}, done));
  scope.cancel();
  scope.spawn(count_after(milliseconds{0}, done));
  co_return Status{};
}

TEST(Scope, CancelReachesTasksThatHaveNotBegun) {
  asio::io_context loop{1};
  int done = 0;
  EXPECT_TRUE(block_on(loop, in_scope(cancel_before_the_start, std::ref(done))));
  EXPECT_EQ(done, 0);
}

Task<void> spawn_sleeper_and_sleep(Scope& scope, bool& child, bool& body) {
  scope.spawn(sleep_for_ever(child));
  co_await sleep_for_ever(body);
  co_return Status{};
}

TEST(Scope, CancellingItsOwnerCancelsAndJoinsTheChildren) {
  asio::io_context loop{1};
  bool child = false;
  bool body = false;
  const Status status = block_on(
      loop,
      within(milliseconds{5}, in_scope(spawn_sleeper_and_sleep, std::ref(child), std::ref(body))));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), Errc::timeout);
  EXPECT_TRUE(body);
  EXPECT_TRUE(child);
}

Task<void> only_spawn_a_sleeper(Scope& scope, bool& child) {
  scope.spawn(sleep_for_ever(child));
  co_return Status{};
}

TEST(Scope, CancellingAJoinCancelsTheChildrenAndWaitsForThem) {
  asio::io_context loop{1};
  bool child = false;
  const Status status =
      block_on(loop, within(milliseconds{5}, in_scope(only_spawn_a_sleeper, std::ref(child))));
  EXPECT_TRUE(child);
  EXPECT_FALSE(status);
}

Task<void> spawn_and_throw(Scope& scope, bool& child) {
  scope.spawn(sleep_for_ever(child));
  int waited = 0;
  co_await count_after(milliseconds{1}, waited);
  throw std::logic_error{"bug"};
}

TEST(Scope, AnExceptionOfItsBodyCancelsTheChildrenAndPassesThrough) {
  asio::io_context loop{1};
  bool child = false;
  EXPECT_THROW((void)block_on(loop, in_scope(spawn_and_throw, std::ref(child))), std::logic_error);
  EXPECT_TRUE(child);
}

Task<void> spawn_a_bug(Scope& scope) {
  scope.spawn(fail_with_a_bug());
  co_return Status{};
}

TEST(Scope, AnExceptionOfAChildLeavesTheLoop) {
  asio::io_context loop{1};
  EXPECT_THROW((void)block_on(loop, in_scope(spawn_a_bug)), std::logic_error);
}

TEST(ScopeDeathTest, AScopeThatWasNotJoinedEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        asio::io_context loop{1};
        int done = 0;
        Scope scope{loop.get_executor()};
        scope.spawn(count_after(milliseconds{1}, done));
      },
      ::testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace cordon::async
