// SPDX-License-Identifier: Apache-2.0
// cordon-init as pid 1: streams, reconnections, many starts.
#include <array>
#include <chrono>
#include <random>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sandbox.h"

namespace cordon::guest {
namespace {

class RootStreams : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root maps a range of ids";
    auto launched = launch(standard_setup());
    ASSERT_TRUE(launched) << launched.error().text();
    sandbox.emplace(*std::move(launched));
    ASSERT_TRUE(host().hear_hello()) << why_not(host());
  }
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): SetUp made it, or skipped the test
  TestHost& host() { return *sandbox->host; }

  std::optional<Sandbox> sandbox;
};

// A text in which every place is another: what is lost, doubled or moved shows.
constexpr std::string_view kCounting = "seq 1 1500000";
std::string counting() {
  std::string text;
  for (int i = 1; i <= 1'500'000; ++i) text += std::to_string(i) + '\n';
  return text;
}

TEST_F(RootStreams, SlowAcknowledgementsHoldTheWriterUpAndLoseNothing) {
  host().acknowledges = false;
  ASSERT_TRUE(host().send(shell(1, kCounting)));
  std::uint64_t acknowledged = 0;
  std::mt19937 random{1};  // NOLINT(cert-msc51-cpp): the same numbers each time
  Heard& heard = host().heard[1];
  while (!heard.out_ended) {
    ASSERT_TRUE(
        host().hear_until([&] { return heard.out_ended || heard.out.size() > acknowledged; }));
    ASSERT_LE(heard.out.size() - acknowledged, 64U << 10U);  // the ring: the writer waits
    acknowledged += 1 + random() % (heard.out.size() - acknowledged + 1);
    acknowledged = std::min<std::uint64_t>(acknowledged, heard.out.size());
    ASSERT_TRUE(host().send(frame::Acknowledge{.process = 1, .offset = acknowledged}));
  }
  ASSERT_TRUE(host().hear_end(1));
  EXPECT_EQ(heard.gaps, 0);
  EXPECT_EQ(heard.out, counting());
  EXPECT_GT(heard.out.size(), 10U << 20U);
}

TEST_F(RootStreams, ReconnectingAtAnyPointLosesNothingAndSeesTheExitOnce) {
  std::mt19937 random{2};  // NOLINT(cert-msc51-cpp): the same numbers each time
  ASSERT_TRUE(host().send(shell(1, kCounting)));
  std::map<std::uint32_t, Heard> kept;  // what a host has on its disk
  int reconnections = 0;
  while (!kept[1].over()) {
    const std::size_t enough = kept[1].out.size() + random() % 400'000;
    host().hear_until(
        [&] { return host().heard[1].out.size() >= enough || host().heard[1].over(); });
    // It dies with bytes read and not judged, and frames half written.
    kept = host().heard;
    if (kept[1].over()) break;
    const auto half = encode(frame::ToGuest{shell(77, "echo never")});
    const std::size_t written = 1 + random() % (half.size() - 1);
    ASSERT_EQ(::send(host().stream().get(), half.data(), written, MSG_NOSIGNAL),
              static_cast<ssize_t>(written));
    auto pair = os::socketpair(os::SocketType::stream);
    ASSERT_TRUE(pair);
    const std::array<std::byte, 1> mark{};
    const std::array<const os::Fd*, 1> fds{&pair->two};
    ASSERT_TRUE(os::send(host().stream(), mark, fds));
    pair->two = os::Fd{};
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): SetUp made it, or skipped the test
    sandbox->host = std::make_unique<TestHost>(std::move(pair->one));
    host().heard = kept;
    ++reconnections;
  }
  EXPECT_GT(reconnections, 10);
  EXPECT_EQ(kept[1].gaps, 0);
  EXPECT_EQ(kept[1].exits.size(), 1U);
  EXPECT_EQ(kept[1].out, counting());
}

TEST_F(RootStreams, ResumeOnTheSameStreamLosesNothing) {
  std::mt19937 random{3};  // NOLINT(cert-msc51-cpp): the same numbers each time
  ASSERT_TRUE(host().send(shell(1, kCounting)));
  Heard& heard = host().heard[1];
  int resumptions = 0;
  while (!heard.over()) {
    const std::size_t enough = heard.out.size() + random() % 100'000;
    ASSERT_TRUE(host().hear_until([&] { return heard.out.size() >= enough || heard.over(); }));
    ASSERT_TRUE(host().send(frame::Resume{}));
    ++resumptions;
  }
  EXPECT_GT(resumptions, 10);
  EXPECT_EQ(heard.gaps, 0);
  EXPECT_EQ(heard.out, counting());
}

TEST_F(RootStreams, AThousandStarts) {
  const auto before = std::chrono::steady_clock::now();
  for (std::uint32_t process = 1; process <= 1000; ++process) {
    frame::Start start = shell(process, "");
    start.arguments = {"echo", std::to_string(process)};
    const Heard& heard = host().run(start);
    ASSERT_EQ(heard.out, std::to_string(process) + "\n");
    ASSERT_EQ(heard.exits.size(), 1U);
  }
  const auto took =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before);
  std::cout << "start to exit, one after the other: " << took.count() / 1000 << " ms each\n";
  // All at once, too.
  for (std::uint32_t process = 2001; process <= 2200; ++process) {
    ASSERT_TRUE(host().send(shell(process, "echo $$")));
  }
  for (std::uint32_t process = 2001; process <= 2200; ++process) {
    ASSERT_TRUE(host().hear_end(process));
    EXPECT_EQ(host().heard[process].out, std::to_string(host().heard[process].pid) + "\n");
  }
}

TEST_F(RootStreams, InputPassesWholeHoweverLarge) {
  ASSERT_TRUE(host().send(shell(1, "sha256sum; echo end")));
  std::string sent;
  Heard& heard = host().heard[1];
  for (int i = 0; i < 100; ++i) {
    const std::string piece(50'000, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(host().hear_until(
        [&] { return sent.size() + piece.size() <= heard.taken + frame::kInputWindow; }));
    ASSERT_TRUE(host().send(
        frame::Input{.process = 1, .offset = sent.size(), .bytes = piece, .last = i == 99}));
    sent += piece;
  }
  ASSERT_TRUE(host().hear_end(1));
  EXPECT_EQ(heard.taken, sent.size());
  EXPECT_TRUE(heard.out.ends_with("-\nend\n")) << heard.out;
}

TEST_F(RootStreams, ATerminalBelongsToTheWorkload) {
  // A shell without the trap goes on where the key meets a child that is about to end.
  frame::Start start = shell(1,
                             "trap 'trap - INT; kill -INT $$' INT; stty size; stat -c %u $(tty); "
                             "tty <&2 >/dev/null && echo same; while :; do sleep 0.05; done");
  start.terminal = frame::WindowSize{.rows = 12, .columns = 34};
  ASSERT_TRUE(host().send(start));
  ASSERT_TRUE(host().hear_until([&] { return host().heard[1].out.ends_with("same\r\n"); }))
      << host().heard[1].out;
  EXPECT_EQ(host().heard[1].out, "12 34\r\n1000\r\nsame\r\n");
  ASSERT_TRUE(host().send(frame::Input{.process = 1, .bytes = "\x03"}));
  ASSERT_TRUE(host().hear_end(1));
  EXPECT_TRUE(host().heard[1].exits.at(0).by_signal);
  EXPECT_EQ(host().heard[1].exits.at(0).value, unsigned{SIGINT});
}

TEST_F(RootStreams, AProgramMayOpenItsStreamsAnew) {
  const Heard& heard = host().run(shell(1, "echo one >/dev/stdout; echo two >/dev/stderr"));
  EXPECT_EQ(heard.out, "one\n");
  EXPECT_EQ(heard.err, "two\n");
}

}  // namespace
}  // namespace cordon::guest
