// SPDX-License-Identifier: Apache-2.0
#include "node/network.h"

#include <array>
#include <string>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "os/socket.h"

namespace cordon::node {
namespace {

using namespace std::chrono_literals;

// The test is the egress: it holds the other end of the link.
class NetworkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    open();
    say(frame::Serving{.id = "k7f3", .certificate = {}, .generation = 1});
    ASSERT_TRUE(async::block_on(loop_, network_.start()));
    loop_.restart();
    asio::co_spawn(loop_, network_.keep(),
                   asio::bind_cancellation_slot(stop_.slot(), asio::detached));
  }
  void TearDown() override {
    stop_.emit(asio::cancellation_type::terminal);
    loop_.run_for(5s);
  }

  void open() {
    auto pair = os::socketpair(os::SocketType::seqpacket);
    ASSERT_TRUE(pair);
    egress_ = std::move(pair->one);
    other_ = std::move(pair->two);
  }
  void say(const frame::EgressToNode& message) {
    ASSERT_TRUE(os::send(egress_, frame::encode(message)));
  }
  void say_used(const std::string& host) {
    say(frame::NetUses{{frame::NetUsed{.id = "k7f3", .host = host}}});
  }
  void run_until(std::size_t heard) {
    const auto late = std::chrono::steady_clock::now() + 5s;
    while (heard_.size() < heard && std::chrono::steady_clock::now() < late)
      loop_.run_one_for(10ms);
  }

  async::Task<os::Fd> hand_over() {
    ++opened_;
    co_return std::move(other_);
  }

  asio::io_context loop_;
  os::Fd egress_, other_;
  asio::cancellation_signal stop_;
  std::vector<std::string> heard_;
  int turns_ = 0;  // in which uses were told
  int opened_ = 0;
  Network network_{loop_.get_executor(),
                   [this] { return hand_over(); },
                   frame::Serve{.id = "k7f3"},
                   {.refused = [this](const frame::NetRefused& r) { heard_.push_back(r.code); },
                    .used =
                        [this](std::span<const frame::NetUsed> uses) {
                          ++turns_;
                          for (const auto& use : uses) heard_.push_back(use.host);
                        }}};
};

TEST_F(NetworkTest, HearsWhatABusyEgressSaysTogetherAndInItsOrder) {
  for (int i = 0; i < 50; ++i) say_used(std::to_string(i));
  say(frame::NetRefused{.code = "refused"});
  say_used("last");
  run_until(52);
  ASSERT_EQ(heard_.size(), 52U);
  EXPECT_EQ(heard_[7], "7");
  EXPECT_EQ(heard_[50], "refused");
  EXPECT_EQ(heard_[51], "last");
  EXPECT_LE(turns_, 4);
}

TEST_F(NetworkTest, HearsWhatIsSaidAfterARest) {
  for (int i = 0; i < 3; ++i) {
    say_used("a");
    run_until(heard_.size() + 1);
    loop_.run_for(20ms);
  }
  EXPECT_EQ(heard_.size(), 3U);
}

TEST_F(NetworkTest, DrainsTheLastWordsOfAnEgressThatHasEnded) {
  stop_.emit(asio::cancellation_type::terminal);
  loop_.run_for(100ms);
  say_used("a");
  say_used("b");
  egress_ = {};
  network_.drain();
  EXPECT_EQ(heard_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(NetworkTest, ReplacesAnEgressThatHasEndedAndHearsItsLastWords) {
  say_used("a");
  os::Fd old = std::move(egress_);
  open();
  say(frame::Serving{.id = "k7f3", .certificate = {}, .generation = 2});
  old = {};
  say_used("b");
  run_until(2);
  EXPECT_EQ(heard_, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(opened_, 2);
}

// A change of the policy, and what the egress is told of it.
class NetworkChange : public NetworkTest {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    static_cast<void>(told());
  }
  frame::Serve told() {
    std::vector<std::byte> buffer(frame::kLongestEgressMessage);
    const auto got = os::receive(egress_, buffer);
    if (!got || got->bytes == 0) return {};
    return std::get<frame::Serve>(
        *frame::decode_node_to_egress(std::span{buffer}.first(got->bytes)));
  }
  void change(std::uint64_t requests) {
    frame::Serve serve{.id = "k7f3", .budgets = {.requests_per_minute = requests}};
    asio::co_spawn(
        loop_, network_.change(std::move(serve)),
        [this](const std::exception_ptr&, Status done) { done_.push_back(std::move(done)); });
    loop_.run_for(20ms);
  }
  std::vector<Status> done_;
};

TEST_F(NetworkChange, IsDoneWhenItIsConfirmedAndNotBefore) {
  change(7);
  EXPECT_TRUE(done_.empty());
  const frame::Serve sent = told();
  EXPECT_EQ(sent.budgets.requests_per_minute, 7U);
  EXPECT_EQ(sent.generation, 2U);
  say(frame::Serving{.id = "k7f3", .generation = 1});  // of the one before
  say(frame::Serving{.id = "k7f3", .generation = 9});  // of none
  loop_.run_for(20ms);
  EXPECT_TRUE(done_.empty()) << "another one's answer was taken for this one's";
  say(frame::Serving{.id = "k7f3", .generation = 2});
  loop_.run_for(20ms);
  ASSERT_EQ(done_.size(), 1U);
  EXPECT_TRUE(done_[0]);
}

TEST_F(NetworkChange, ThatIsRefusedSaysWhy) {
  change(7);
  say(frame::NotServed{.id = "k7f3", .text = "port 0", .generation = 2});
  loop_.run_for(20ms);
  ASSERT_EQ(done_.size(), 1U);
  ASSERT_FALSE(done_[0]);
  EXPECT_EQ(done_[0].error().text(), "cordon-egress: port 0");
}

TEST_F(NetworkChange, IsWhatTheNextEgressIsTold) {
  change(7);
  os::Fd old = std::move(egress_);
  open();
  old = {};  // it died, and had confirmed nothing
  say(frame::Serving{.id = "k7f3", .generation = 3});
  loop_.run_for(200ms);
  const frame::Serve sent = told();
  EXPECT_EQ(sent.budgets.requests_per_minute, 7U);
  EXPECT_EQ(sent.generation, 3U);
  ASSERT_EQ(done_.size(), 1U);
  EXPECT_TRUE(done_[0]);
}

TEST_F(NetworkChange, IsDoneWithALaterOne) {
  change(7);
  change(5);
  EXPECT_EQ(told().generation, 2U);
  EXPECT_EQ(told().budgets.requests_per_minute, 5U);
  say(frame::Serving{.id = "k7f3", .generation = 3});
  loop_.run_for(20ms);
  ASSERT_EQ(done_.size(), 2U);
  EXPECT_TRUE(done_[0] && done_[1]);
}

}  // namespace
}  // namespace cordon::node
