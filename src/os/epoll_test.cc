// SPDX-License-Identifier: Apache-2.0
#include "os/epoll.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "os/file.h"

namespace cordon::os {
namespace {

using std::chrono::milliseconds;

TEST(Epoll, TellsWhichDescriptorIsReadyByItsTag) {
  const auto epoll = Epoll::create();
  const auto one = pipe2();
  const auto two = pipe2();
  ASSERT_TRUE(epoll && one && two);
  ASSERT_TRUE(epoll->add(one->read, EPOLLIN, 1));
  ASSERT_TRUE(epoll->add(two->read, EPOLLIN, 2));
  EXPECT_TRUE(epoll->wait(milliseconds{0})->empty());
  ASSERT_TRUE(write_all(two->write, "x"));
  const auto ready = epoll->wait({});
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->size(), 1U);
  EXPECT_EQ(ready->front().tag, 2U);
  EXPECT_EQ(ready->front().events, static_cast<std::uint32_t>(EPOLLIN));
}

TEST(Epoll, TellsTheEndOfTheOtherSide) {
  const auto epoll = Epoll::create();
  auto pipe = pipe2();
  ASSERT_TRUE(epoll && pipe);
  ASSERT_TRUE(epoll->add(pipe->read, EPOLLIN, 7));
  pipe->write = Fd{};
  const auto ready = epoll->wait(milliseconds{1000});
  ASSERT_TRUE(ready && ready->size() == 1U);
  EXPECT_NE(ready->front().events & EPOLLHUP, 0U);
}

TEST(Epoll, ForgetsWhatIsRemovedAndChangesWhatIsModified) {
  const auto epoll = Epoll::create();
  const auto pipe = pipe2();
  ASSERT_TRUE(epoll && pipe);
  ASSERT_TRUE(epoll->add(pipe->write, EPOLLOUT, 1));
  EXPECT_EQ(epoll->wait(milliseconds{0})->size(), 1U);
  ASSERT_TRUE(epoll->modify(pipe->write, 0, 1));
  EXPECT_TRUE(epoll->wait(milliseconds{0})->empty());
  ASSERT_TRUE(epoll->remove(pipe->write));
  EXPECT_FALSE(epoll->remove(pipe->write));
}

TEST(Epoll, RefusesADescriptorTwice) {
  const auto epoll = Epoll::create();
  const auto pipe = pipe2();
  ASSERT_TRUE(epoll && pipe);
  ASSERT_TRUE(epoll->add(pipe->read, EPOLLIN, 1));
  const auto again = epoll->add(pipe->read, EPOLLIN, 2);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Errc::exists);
}

}  // namespace
}  // namespace cordon::os
