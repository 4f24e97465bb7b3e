// SPDX-License-Identifier: Apache-2.0
// What a node is told of its policies and brokers, and what a policy that cannot be read does.
#include "egress/server.h"

#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "os/memfd.h"
#include "os/socket.h"

namespace cordon::egress {
namespace {

frame::Serve serve_of(const std::string& id, std::uint64_t generation,
                      std::vector<frame::NetRule> rules) {
  frame::NetDocument document{.origin = 2, .files = {{.name = "p.toml", .origin = 2}}};
  document.allow = std::move(rules);
  return {.id = id, .documents = {document}, .generation = generation};
}

// A cordon-egress with nobody before it, in a thread.
class EgressServer : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(resolver_) << resolver_.error().text();
    thread_ = std::thread{[this] {
      asio::co_spawn(loop_, server_.run(), [this](const std::exception_ptr&) { loop_.stop(); });
      loop_.run();
    }};
  }
  void TearDown() override {
    launcher_.one = os::Fd{};  // it ends with its launcher
    if (thread_.joinable()) thread_.join();
  }

  void send(const frame::NodeToEgress& message, const std::vector<const os::Fd*>& fds = {}) {
    ASSERT_TRUE(os::send(node_.one, frame::encode(message), fds));
  }
  frame::EgressToNode hear() {
    std::vector<std::byte> buffer(frame::kLongestEgressMessage);
    const auto got = os::receive(node_.one, buffer);
    if (!got || got->bytes == 0) return frame::NotServed{.text = "it has ended"};
    return *frame::decode_egress_to_node(std::span{buffer}.first(got->bytes));
  }

  os::SocketPair launcher_ = *os::socketpair(os::SocketType::seqpacket);
  os::SocketPair node_ = *os::socketpair(os::SocketType::seqpacket);
  asio::io_context loop_{1};
  os::Fd file_ = *os::memfd_create("state");
  StateFile state_ = *StateFile::open(file_);
  Result<std::unique_ptr<Resolver>> resolver_ = Resolver::open(loop_.get_executor());
  Dialler dialler_{**resolver_};
  SystemClock clock_;
  TrustStore trusted_ = *TrustStore::none();
  TlsServer tls_server_ = *TlsServer::create();
  TlsClient tls_client_ = *TlsClient::create(trusted_);
  Server server_{{.executor = loop_.get_executor(),
                  .dialler = dialler_,
                  .clock = clock_,
                  .trusted = trusted_,
                  .tls_server = tls_server_,
                  .tls_client = tls_client_},
                 std::move(launcher_.two),
                 std::move(node_.two),
                 state_};
  std::thread thread_;
};

TEST_F(EgressServer, ConfirmsEachPolicyByItsNumber) {
  for (const std::uint64_t generation : {7U, 8U, 3U}) {
    send(serve_of("k7f3", generation, {{.host = "a.example"}}));
    const auto answer = hear();
    const auto* serving = std::get_if<frame::Serving>(&answer);
    ASSERT_NE(serving, nullptr);
    EXPECT_EQ(serving->id, "k7f3");
    EXPECT_EQ(serving->generation, generation);
    EXPECT_EQ(serving->certificate, "");
  }
}

TEST_F(EgressServer, SaysWhichPolicyCannotBeReadAndTakesTheNext) {
  send(serve_of("k7f3", 1, {{.host = "a.example"}}));
  EXPECT_TRUE(std::holds_alternative<frame::Serving>(hear()));
  send(serve_of("k7f3", 2, {{.host = "*"}}));
  const auto answer = hear();
  const auto* refused = std::get_if<frame::NotServed>(&answer);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->generation, 2U);
  EXPECT_NE(refused->text, "");
  send(serve_of("k7f3", 3, {{.host = "a.example"}}));
  EXPECT_TRUE(std::holds_alternative<frame::Serving>(hear()));
}

// The bundle inside has the certificate of the first, with its names.
TEST_F(EgressServer, KeepsTheAuthorityOfTheFirstPolicy) {
  send(serve_of("one", 1, {{.host = "a.example", .methods = {"GET"}}}));
  const auto first = std::get<frame::Serving>(hear());
  EXPECT_NE(first.certificate, "");
  send(serve_of("one", 2, {{.host = "b.example", .methods = {"GET"}}}));
  EXPECT_EQ(std::get<frame::Serving>(hear()).certificate, first.certificate);
  send(serve_of("two", 1, {{.host = "a.example"}}));
  EXPECT_EQ(std::get<frame::Serving>(hear()).certificate, "");
  send(serve_of("two", 2, {{.host = "a.example", .methods = {"GET"}}}));
  EXPECT_EQ(std::get<frame::Serving>(hear()).certificate, "") << "nobody inside would trust it";
}

TEST_F(EgressServer, BelievesNoNodeThatSaysNonsense) {
  ASSERT_TRUE(os::send(node_.one, std::array{std::byte{0xFF}, std::byte{1}}));
  EXPECT_EQ(std::get<frame::NotServed>(hear()).text, "it has ended");
}

TEST_F(EgressServer, TellsItsAnswerToANodeThatListensLate) {
  // Reports may be lost, answers may not: more policies than a socket holds answers, unread.
  constexpr std::uint64_t kMany = 3000;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    send(serve_of("k7f3", i, {{.host = "a.example", .methods = {"GET"}}}));
  }
  std::uint64_t last = 0;
  std::uint64_t heard = 0;
  while (last < kMany) {
    const auto answer = hear();
    const auto* serving = std::get_if<frame::Serving>(&answer);
    ASSERT_NE(serving, nullptr);
    EXPECT_GT(serving->generation, last);
    last = serving->generation;
    ++heard;
  }
  EXPECT_LT(heard, kMany) << "the socket has held them all, and nothing was tried";
}

TEST_F(EgressServer, AsksTheNewestBroker) {
  auto first = *os::socketpair(os::SocketType::seqpacket);
  auto second = *os::socketpair(os::SocketType::seqpacket);
  send(frame::UseBroker{}, {&first.two});
  EXPECT_TRUE(std::holds_alternative<frame::UsingBroker>(hear()));
  // The first lives on: its death may be heard of later than its successor.
  send(frame::UseBroker{}, {&second.two});
  EXPECT_TRUE(std::holds_alternative<frame::UsingBroker>(hear()));
  first.two = os::Fd{};
  std::array<std::byte, 16> buffer{};
  const auto end = os::receive(first.one, buffer);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->bytes, 0U) << "nobody listens to the first any more";
  send(frame::UseBroker{});
  EXPECT_TRUE(std::holds_alternative<frame::NotServed>(hear()));
}

}  // namespace
}  // namespace cordon::egress
