// SPDX-License-Identifier: Apache-2.0
// Whatever a cordon-egress does, its launcher is not held up and believes nothing.
#include "launcher/egress_link.h"

#include <array>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "os/socket.h"

namespace cordon::launcher {
namespace {

using namespace std::chrono_literals;

class Peers : public ::testing::Test {
 protected:
  // Any descriptors do: nobody listens on them here.
  const os::SteeredSockets& sockets() {
    auto made = os::socketpair(os::SocketType::stream);
    given_ = {.tcp = std::move(made->one), .udp = std::move(made->two)};
    return given_;
  }

  os::SocketPair pair_ = *os::socketpair(os::SocketType::seqpacket);
  EgressLink link_ = *EgressLink::over(std::move(pair_.one), 200ms, 200ms);
  os::SteeredSockets given_;
};

void say(const os::Fd& socket, const frame::EgressToLauncher& answer) {
  static_cast<void>(os::send(socket, frame::encode(answer)));
}

// Hears one message, and lets `answer` say something to it.
std::thread hears_one(const os::Fd& socket,
                      std::function<void(const os::Fd&, std::size_t)> answer) {
  return std::thread{[&socket, answer = std::move(answer)] {
    std::array<std::byte, 256> buffer{};
    const auto got = os::receive(socket, buffer, 2);
    if (got) answer(socket, got->fds.size());
  }};
}

TEST_F(Peers, OfAnHonestOneAreGivenAndTakenBack) {
  std::size_t came = 0;
  auto peer = hears_one(pair_.two, [&](const os::Fd& socket, std::size_t fds) {
    came = fds;
    say(socket, frame::Holding{"k7f3"});
  });
  const Status held = link_.give("k7f3", sockets());
  peer.join();
  EXPECT_TRUE(held) << held.error().text();
  EXPECT_EQ(came, 2U);
  auto again = hears_one(
      pair_.two, [](const os::Fd& socket, std::size_t) { say(socket, frame::Forgotten{"k7f3"}); });
  EXPECT_TRUE(link_.take_back("k7f3"));
  again.join();
}

TEST(StartingPeer, IsGivenLongerForItsFirstAnswerOnly) {
  os::SocketPair pair = *os::socketpair(os::SocketType::seqpacket);
  EgressLink link = *EgressLink::over(std::move(pair.one), 50ms, 20s);
  auto peer = hears_one(pair.two, [](const os::Fd& socket, std::size_t) {
    std::this_thread::sleep_for(300ms);
    say(socket, frame::Forgotten{"k7f3"});
  });
  EXPECT_TRUE(link.take_back("k7f3"));
  peer.join();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(link.take_back("k7f3"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

TEST_F(Peers, ThatAnswerSomethingElseAreNotBelieved) {
  const std::function<void(const os::Fd&)> lies[] = {
      [](const os::Fd& socket) { say(socket, frame::Forgotten{"k7f3"}); },  // another kind
      [](const os::Fd& socket) { say(socket, frame::Holding{"other"}); },
      [](const os::Fd& socket) {
        static_cast<void>(os::send(socket, std::array{std::byte{0xFF}, std::byte{0}}));
      },
      [](const os::Fd& socket) {
        static_cast<void>(os::send(socket, std::vector<std::byte>(1000)));  // too long
      }};
  for (const auto& lie : lies) {
    auto pair = *os::socketpair(os::SocketType::seqpacket);
    auto link = *EgressLink::over(std::move(pair.one), 2s, 2s);
    auto peer = hears_one(pair.two, [&](const os::Fd& socket, std::size_t) { lie(socket); });
    const Status held = link.give("k7f3", sockets());
    peer.join();
    ASSERT_FALSE(held);
    EXPECT_NE(held.error().code(), Errc::timeout) << "it was taken for silence";
  }
  say(pair_.two, frame::Holding{"k7f3"});
  EXPECT_FALSE(link_.take_back("k7f3")) << "a Holding is no answer to Forget";
}

TEST_F(Peers, ThatAreSilentAreWaitedForNoLongerThanItsPatience) {
  const auto begin = std::chrono::steady_clock::now();
  const Status held = link_.give("k7f3", sockets());
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code(), Errc::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
}

// It answers ahead, and reads nothing: the socket fills up.
TEST_F(Peers, ThatReadNothingDoNotHoldItUp) {
  const auto begin = std::chrono::steady_clock::now();
  Status held;
  int given = 0;
  for (; held && given < 100'000; ++given) {
    say(pair_.two, frame::Holding{"k7f3"});
    held = link_.give("k7f3", sockets());
  }
  ASSERT_FALSE(held) << "it never filled up";
  EXPECT_GT(given, 1);
  EXPECT_EQ(held.error().code(), Errc::timeout) << held.error().text();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

TEST_F(Peers, ThatHaveGoneAreSeenAtOnce) {
  pair_.two = os::Fd{};
  EXPECT_FALSE(link_.give("k7f3", sockets()));
  EXPECT_FALSE(link_.take_back("k7f3"));
}

}  // namespace
}  // namespace cordon::launcher
