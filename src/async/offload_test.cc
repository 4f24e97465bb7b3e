// SPDX-License-Identifier: Apache-2.0
// Work leaves the loop and comes back.
#include "async/offload.h"

#include <memory>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "async/block_on.h"

namespace cordon::async {
namespace {

struct Threads {
  std::thread::id before;
  std::thread::id work;
  std::thread::id after;
};

Task<Threads> note_threads(asio::thread_pool& pool) {
  Threads seen;
  seen.before = std::this_thread::get_id();
  seen.work = co_await offload(pool, [] { return std::this_thread::get_id(); });
  seen.after = std::this_thread::get_id();
  co_return seen;
}

TEST(Offload, WorksOnAnotherThreadAndResumesOnTheLoops) {
  asio::io_context loop{1};
  asio::thread_pool pool{1};
  const auto seen = block_on(loop, note_threads(pool));
  ASSERT_TRUE(seen);
  EXPECT_NE(seen->work, seen->before);
  EXPECT_EQ(seen->after, seen->before);
}

Task<std::unique_ptr<int>> make_elsewhere(asio::thread_pool& pool, std::unique_ptr<int> seed) {
  auto work = [seed = std::move(seed)]() mutable -> Result<std::unique_ptr<int>> {
    ++*seed;
    return std::move(seed);
  };
  co_return co_await offload(pool, std::move(work));
}

TEST(Offload, MovesWhatItTakesAndWhatItReturns) {
  asio::io_context loop{1};
  asio::thread_pool pool{1};
  const auto value = block_on(loop, make_elsewhere(pool, std::make_unique<int>(1)));
  ASSERT_TRUE(value);
  EXPECT_EQ(**value, 2);
}

Task<int> throw_elsewhere(asio::thread_pool& pool) {
  co_return co_await offload(pool, []() -> Result<int> { throw std::logic_error{"bug"}; });
}

TEST(Offload, BringsAnExceptionBackToTheCaller) {
  asio::io_context loop{1};
  asio::thread_pool pool{1};
  EXPECT_THROW((void)block_on(loop, throw_elsewhere(pool)), std::logic_error);
}

Task<int> slow_elsewhere(asio::thread_pool& pool, bool& got) {
  const int value = co_await offload(pool, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    return 5;
  });
  got = value == 5;
  co_return value;
}

TEST(Offload, IsWaitedForWhenItsCallerIsCancelled) {
  asio::io_context loop{1};
  asio::thread_pool pool{1};
  bool got = false;
  const auto value =
      block_on(loop, within(std::chrono::milliseconds{1}, slow_elsewhere(pool, got)));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code(), Errc::timeout);
  EXPECT_TRUE(got);
}

}  // namespace
}  // namespace cordon::async
