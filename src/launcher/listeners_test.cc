// SPDX-License-Identifier: Apache-2.0
#include "launcher/listeners.h"

#include <gtest/gtest.h>

#include "os/socket.h"
#include "os/tcp_listen.h"

namespace cordon::launcher {
namespace {

os::Fd listening() {
  auto made = os::tcp_listen(os::IpAddress::v4({127, 0, 0, 1}), 0);
  EXPECT_TRUE(made) << made.error().text();
  return made ? *std::move(made) : os::Fd{};
}

TEST(Listeners, KeepOneForEachName) {
  Listeners listeners;
  EXPECT_EQ(listeners.find("tcp"), nullptr);
  ASSERT_TRUE(listeners.keep("tcp", {"first", listening()}));
  ASSERT_TRUE(listeners.keep("tcp", {"second", listening()}));
  ASSERT_NE(listeners.find("tcp"), nullptr);
  EXPECT_EQ(listeners.find("tcp")->address, "second");
  listeners.forget("tcp");
  EXPECT_EQ(listeners.find("tcp"), nullptr);
}

TEST(Listeners, TakeNothingThatDoesNotListen) {
  Listeners listeners;
  auto pair = os::socketpair(os::SocketType::stream);
  ASSERT_TRUE(pair);
  EXPECT_EQ(listeners.keep("unix", {"pair", std::move(pair->one)}).error().code(), Errc::invalid);
  EXPECT_FALSE(listeners.keep("unix", {"nothing", {}}));
}

TEST(Listeners, TakeNoOddNamesAndNoLongAddresses) {
  Listeners listeners;
  for (const char* const name : {"", "Tcp", "a/b", "a b", "abcdefghijklmnopqrstuvwxyz0123456"}) {
    EXPECT_EQ(listeners.keep(name, {"at", listening()}).error().code(), Errc::invalid) << name;
  }
  EXPECT_EQ(listeners.keep("tcp", {std::string(257, 'a'), listening()}).error().code(),
            Errc::invalid);
  EXPECT_TRUE(listeners.keep("tcp", {std::string(256, 'a'), listening()}));
}

TEST(Listeners, AreFew) {
  Listeners listeners;
  for (std::size_t i = 0; i < Listeners::kMost; ++i) {
    ASSERT_TRUE(listeners.keep("n" + std::to_string(i), {"at", listening()}));
  }
  EXPECT_EQ(listeners.keep("more", {"at", listening()}).error().code(), Errc::exhausted);
  EXPECT_TRUE(listeners.keep("n0", {"at", listening()}));
}

}  // namespace
}  // namespace cordon::launcher
