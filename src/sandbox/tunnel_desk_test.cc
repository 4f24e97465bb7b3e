// SPDX-License-Identifier: Apache-2.0
// Tunnels and watches at the host's end, before a guest that says whatever it likes.
#include "sandbox/tunnel_desk.h"

#include <cerrno>

#include "sandbox/fake_guest_test.h"

namespace cordon::sandbox {
namespace {

class TunnelLink : public LinkToAFake {
 protected:
  void SetUp() override { open(Origin::launched); }
  std::unique_ptr<Tunnel> open_tunnel() {
    const std::size_t before = heard_of<frame::OpenTunnel>().size();
    const auto opening = begin(link_->tunnels().open(8080, link_));
    EXPECT_TRUE(run_until([&] { return heard_of<frame::OpenTunnel>().size() > before; }));
    say(frame::TunnelOpened{heard_of<frame::OpenTunnel>().back().tunnel});
    EXPECT_TRUE(comes(opening));
    return **opening ? std::move(***opening) : nullptr;
  }
  std::string end_of_link() {
    const auto reading = begin(link_->usage());
    if (!comes(reading) || **reading) return "it goes on";
    return (*reading)->error().text();
  }
};

TEST_F(TunnelLink, OpensMovesAndClosesOnce) {
  auto tunnel = open_tunnel();
  ASSERT_TRUE(tunnel);
  EXPECT_EQ(heard_of<frame::OpenTunnel>()[0].port, 8080);
  say(frame::TunnelData{1, "abc"});
  const auto read = begin(tunnel->read_some());
  ASSERT_TRUE(comes(read));
  EXPECT_EQ(***read, "abc");
  ASSERT_TRUE(comes(begin(tunnel->write("de"))));
  tunnel->shutdown_write();
  say(frame::TunnelEnd{1});
  const auto end = begin(tunnel->read_some());
  ASSERT_TRUE(comes(end));
  EXPECT_EQ(***end, "");
  ASSERT_TRUE(run_until([&] { return !heard_of<frame::TunnelEnd>().empty(); }));
  EXPECT_EQ(heard_of<frame::TunnelData>()[0].bytes, "de");
  EXPECT_EQ(heard_of<frame::TunnelTaken>()[0].count, 3U);
  tunnel.reset();
  EXPECT_EQ(link_->tunnels().size(), 0U);
  auto other = open_tunnel();
  other.reset();
  ASSERT_TRUE(run_until([&] { return !heard_of<frame::CloseTunnel>().empty(); }));
  EXPECT_EQ(heard_of<frame::CloseTunnel>().size(), 1U) << "one that had ended needs no closing";
  // What crosses the closing is nobody's.
  say(frame::TunnelData{2, "late"});
  auto third = open_tunnel();
  EXPECT_TRUE(third);
}

TEST_F(TunnelLink, WritesNoMoreThanTheWindow) {
  auto tunnel = open_tunnel();
  ASSERT_TRUE(tunnel);
  const auto writing = begin(tunnel->write(std::string(2 * frame::kTunnelWindow, 'x')));
  const auto arrived = [&] {
    std::size_t sum = 0;
    for (const auto& data : heard_of<frame::TunnelData>()) sum += data.bytes.size();
    return sum;
  };
  ASSERT_TRUE(run_until([&] { return arrived() == frame::kTunnelWindow; }));
  EXPECT_FALSE(run_until([&] { return arrived() > frame::kTunnelWindow || writing->has_value(); },
                         std::chrono::milliseconds{20}));
  say(frame::TunnelTaken{1, frame::kTunnelWindow});
  ASSERT_TRUE(comes(writing));
  EXPECT_TRUE(**writing);
  ASSERT_TRUE(run_until([&] { return arrived() == 2 * frame::kTunnelWindow; }));
}

TEST_F(TunnelLink, TakesMoreThanTheWindowForTheEnd) {
  auto tunnel = open_tunnel();
  for (std::uint64_t sent = 0; sent <= frame::kTunnelWindow; sent += frame::kMostData) {
    say(frame::TunnelData{1, std::string(frame::kMostData, 'x')});
  }
  EXPECT_EQ(end_of_link(), "agent_protocol_error: more bytes of a tunnel than its window");
}

TEST_F(TunnelLink, TakesWhatCannotBeForTheEnd) {
  auto tunnel = open_tunnel();
  say(frame::TunnelTaken{1, 1});
  EXPECT_EQ(end_of_link(), "agent_protocol_error: tunnel bytes that were never sent");
  const auto late = begin(tunnel->read_some());
  ASSERT_TRUE(comes(late));
  EXPECT_FALSE(**late);
}

TEST_F(TunnelLink, TakesATunnelThatWasNeverOpenedForTheEnd) {
  say(frame::TunnelOpened{1});
  EXPECT_EQ(end_of_link(), "agent_protocol_error: a tunnel that was never opened");
}

TEST_F(TunnelLink, TellsWhyOneFails) {
  const auto opening = begin(link_->tunnels().open(1, link_));
  ASSERT_TRUE(run_until([&] { return !heard_of<frame::OpenTunnel>().empty(); }));
  say(frame::TunnelFailed{1, ECONNREFUSED});
  ASSERT_TRUE(comes(opening));
  ASSERT_FALSE(**opening);
  EXPECT_EQ((*opening)->error().cause().value(), ECONNREFUSED);
  EXPECT_EQ(link_->tunnels().size(), 0U);
}

TEST_F(TunnelLink, OpensNoMoreThanItsBound) {
  std::vector<Pending<std::unique_ptr<Tunnel>>> all;
  all.reserve(frame::kMostTunnels);
  for (std::size_t i = 0; i < frame::kMostTunnels; ++i) {
    all.push_back(begin(link_->tunnels().open(1, link_)));
  }
  ASSERT_TRUE(
      run_until([&] { return heard_of<frame::OpenTunnel>().size() == frame::kMostTunnels; }));
  const auto more = begin(link_->tunnels().open(1, link_));
  ASSERT_TRUE(comes(more));
  EXPECT_EQ((*more)->error().code(), Errc::exhausted);
  guest_ = os::Fd{};
  for (const auto& each : all) ASSERT_TRUE(comes(each));
}

class WatchLink : public LinkToAFake {
 protected:
  void SetUp() override { open(Origin::launched); }
  std::unique_ptr<Watch> begin_watch() {
    const auto beginning = begin(link_->watches().begin({.path = "/tmp"}, link_));
    EXPECT_TRUE(run_until([&] { return !heard_of<frame::StartWatch>().empty(); }));
    say(frame::WatchBegun{heard_of<frame::StartWatch>().back().watch});
    EXPECT_TRUE(comes(beginning));
    return **beginning ? std::move(***beginning) : nullptr;
  }
};

TEST_F(WatchLink, GathersEventsUntilTheyAreAskedFor) {
  auto watch = begin_watch();
  ASSERT_TRUE(watch);
  say(frame::WatchEvents{.watch = 1, .events = {{.name = "a"}}});
  say(frame::WatchEvents{.watch = 1, .events = {{.name = "b"}}});
  say(frame::Hello{});
  run_until([] { return false; }, std::chrono::milliseconds{20});
  const auto told = begin(watch->next());
  ASSERT_TRUE(comes(told));
  EXPECT_EQ((**told)->events.size(), 2U);
  EXPECT_FALSE((**told)->lost);
  say(frame::WatchEnded{1, 0});
  const auto end = begin(watch->next());
  ASSERT_TRUE(comes(end));
  EXPECT_EQ((*end)->error().code(), Errc::not_found);
}

TEST_F(WatchLink, DropsWhatNobodyAsksForAndSaysSo) {
  auto watch = begin_watch();
  ASSERT_TRUE(watch);
  std::vector<frame::WatchEvent> many(frame::kMostWatchEvents, {.name = "name"});
  for (std::size_t sent = 0; sent <= WatchDesk::kMostWaiting; sent += many.size()) {
    say(frame::WatchEvents{.watch = 1, .events = many});
    run_until([] { return false; }, std::chrono::milliseconds{1});
  }
  const auto told = begin(watch->next());
  ASSERT_TRUE(comes(told));
  EXPECT_TRUE((**told)->lost);
  EXPECT_LE((**told)->events.size(), WatchDesk::kMostWaiting);
  watch.reset();
  EXPECT_TRUE(run_until([&] { return heard_of<frame::StopWatch>().size() == 1; }));
}

}  // namespace
}  // namespace cordon::sandbox
