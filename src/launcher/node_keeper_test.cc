// SPDX-License-Identifier: Apache-2.0
#include "launcher/node_keeper.h"

#include <gtest/gtest.h>

namespace cordon::launcher {
namespace {

using namespace std::chrono_literals;

TEST(BackOff, WaitsTwiceAsLongEachTimeUpToItsLongest) {
  BackOff back_off;
  EXPECT_EQ(back_off.after(0ms, false), 50ms);
  EXPECT_EQ(back_off.after(10ms, false), 100ms);
  EXPECT_EQ(back_off.after(4'999ms, false), 200ms);
  for (int i = 0; i < 10; ++i) static_cast<void>(back_off.after(0ms, false));
  EXPECT_EQ(back_off.after(0ms, false), 5'000ms);
}

TEST(BackOff, BeginsAnewAfterOneThatServed) {
  BackOff back_off;
  for (int i = 0; i < 5; ++i) static_cast<void>(back_off.after(0ms, false));
  EXPECT_EQ(back_off.after(5s, false), 50ms);
  EXPECT_EQ(back_off.after(0ms, false), 100ms);
}

TEST(BackOff, IsShortAfterOneThatServed) {
  BackOff back_off;
  for (int i = 0; i < 10; ++i) static_cast<void>(back_off.after(0ms, false));
  EXPECT_EQ(back_off.after(300ms, true), 200ms);
  EXPECT_EQ(back_off.after(300ms, true), 200ms);
  EXPECT_EQ(back_off.after(0ms, false), 400ms);
}

TEST(NodeKeeper, IsDueAfterItsGrace) {
  const auto before = NodeKeeper::Clock::now();
  NodeKeeper keeper{{.config = "/none", .uid = 1, .gid = 1}, 1s};
  EXPECT_GE(keeper.due().value_or(before), before + 1s);
  EXPECT_FALSE(keeper.runs());
  keeper.greet(1h);
  EXPECT_GE(keeper.due().value_or(before), before + 1h);
}

TEST(NodeKeeper, IsDueSoonAfterAnothersNodeHasGone) {
  NodeKeeper keeper{{.config = "/none", .uid = 1, .gid = 1}, 1h};
  keeper.greet(1h);
  keeper.part();
  EXPECT_LE(keeper.due().value_or(NodeKeeper::Clock::now() + 1h), NodeKeeper::Clock::now() + 50ms);
}

}  // namespace
}  // namespace cordon::launcher
