// SPDX-License-Identifier: Apache-2.0
// Calls find their answers among the records of uses; a broker that is gone is said to be.
#include "node/broker_owner.h"

#include <functional>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "async/block_on.h"
#include "async/scope.h"
#include "base/bytes.h"
#include "os/socket.h"

namespace cordon::node {
namespace {

using std::chrono::milliseconds;

// What the broker got: the secret as a text of the test's.
struct Heard {
  frame::OwnerToBroker message;
  std::string secret;
  std::vector<os::Fd> fds;
};

std::optional<Heard> hear(const os::Fd& socket) {
  std::vector<std::byte> bytes(frame::kLongestBrokerMessage);
  auto got = os::receive(socket, bytes, 1);
  if (!got || got->bytes == 0) return std::nullopt;
  auto message = frame::decode_owner_to_broker(std::span{bytes}.first(got->bytes));
  if (!message) return std::nullopt;
  Heard heard{*std::move(message), {}, std::move(got->fds)};
  if (auto* bind = std::get_if<frame::BindGrant>(&heard.message)) {
    heard.secret = as_text(bind->secret.bytes);
    bind->secret = {};
  }
  return heard;
}

void say(const os::Fd& socket, const frame::BrokerToOwner& message) {
  static_cast<void>(os::send(socket, frame::encode(message)));
}

struct Fixture {
  explicit Fixture(std::function<void(os::Fd)> broker, milliseconds patience = milliseconds{2000}) {
    auto pair = os::socketpair(os::SocketType::seqpacket);
    EXPECT_TRUE(pair);
    owner = std::make_unique<BrokerOwner>(
        loop.get_executor(), std::move(pair->one),
        BrokerOwner::Callbacks{
            .used = [this](const frame::GrantUsed& used) { uses.push_back(used.path); },
            .lost = [this] { ++lost; }},
        patience);
    thread = std::thread{std::move(broker), std::move(pair->two)};
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture() {
    owner.reset();
    thread.join();
  }

  asio::io_context loop{1};
  std::vector<std::string> uses;
  int lost = 0;
  std::unique_ptr<BrokerOwner> owner;
  std::thread thread;
};

policy::Grant a_grant() {
  policy::Grant grant{.name = "github", .env = "TOKEN", .header = "Authorization: Bearer {secret}"};
  grant.host.name = "api.github.com";
  grant.methods = {"GET"};
  grant.paths = {"/r/**"};
  grant.ttl_seconds = 60;
  return grant;
}

WipedBytes secret(std::string_view text) {
  const auto bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

async::Task<void> bind_once(async::Scope& scope, BrokerOwner& owner) {
  scope.spawn(owner.run());
  auto done = co_await owner.bind(binding_of(a_grant(), "abc", "acme", ""), secret("tuesday"));
  scope.cancel();
  co_return done;
}

Status bind(Fixture& with) {
  return async::block_on(with.loop, async::in_scope(bind_once, std::ref(*with.owner)));
}

TEST(BrokerOwner, SaysAllThatThePolicySaysOfAGrant) {
  Heard heard;
  Fixture with{[&](const os::Fd& socket) {
    heard = hear(socket).value_or(Heard{});
    say(socket, frame::GrantUsed{"abc", "github", "h", "GET", "/one", frame::SecretVerdict::given});
    say(socket, frame::GrantBound{"abc", "github"});
  }};
  const Status bound = bind(with);
  ASSERT_TRUE(bound) << bound.error().text();
  EXPECT_EQ(heard.message,
            frame::OwnerToBroker(frame::BindGrant{.sandbox = "abc",
                                                  .tenant = "acme",
                                                  .grant = "github",
                                                  .host = "api.github.com",
                                                  .port = 443,
                                                  .methods = {"GET"},
                                                  .paths = {"/r/**"},
                                                  .header = "Authorization: Bearer {secret}",
                                                  .ttl_seconds = 60}));
  EXPECT_EQ(heard.secret, "tuesday");
  EXPECT_EQ(with.uses, std::vector<std::string>{"/one"});
}

TEST(BrokerOwner, TellsWhyABindingWasRefused) {
  Fixture with{[](const os::Fd& socket) {
    static_cast<void>(hear(socket));
    say(socket, frame::GrantRefused{"abc", "github", "malformed", "no such host"});
  }};
  const Status bound = bind(with);
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code(), Errc::denied);
  EXPECT_EQ(bound.error().text(), "broker: malformed: no such host");
}

TEST(BrokerOwner, SaysThatTheBrokerHasGone) {
  Fixture with{[](const os::Fd& socket) { static_cast<void>(hear(socket)); }};
  const Status first = bind(with);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code(), Errc::unavailable);
  EXPECT_TRUE(with.owner->is_lost());
  EXPECT_EQ(with.lost, 1);
  const Status second = bind(with);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::unavailable);
}

async::Task<std::uint32_t> give_up_then_ask(async::Scope& scope, BrokerOwner& owner) {
  scope.spawn(owner.run());
  const auto late =
      co_await owner.bind(binding_of(a_grant(), "abc", "acme", ""), secret("tuesday"));
  EXPECT_FALSE(late);
  if (!late) EXPECT_EQ(late.error().code(), Errc::timeout);
  const frame::RevokeGrants all{.sandbox = "abc"};
  auto revoked = co_await owner.revoke(all);
  scope.cancel();
  co_return revoked;
}

// The answer of a call that was given up is not taken for that of the next.
TEST(BrokerOwner, KeepsAnswersWithTheirCalls) {
  Fixture with{[](const os::Fd& socket) {
                 static_cast<void>(hear(socket));
                 static_cast<void>(hear(socket));
                 say(socket, frame::GrantBound{"abc", "github"});
                 say(socket, frame::GrantsRevoked{4});
               },
               milliseconds{100}};
  const auto revoked =
      async::block_on(with.loop, async::in_scope(give_up_then_ask, std::ref(*with.owner)));
  ASSERT_TRUE(revoked) << revoked.error().text();
  EXPECT_EQ(*revoked, 4U);
}

async::Task<void> hand_over(async::Scope& scope, BrokerOwner& owner) {
  scope.spawn(owner.run());
  auto pair = os::socketpair(os::SocketType::seqpacket);
  if (!pair) co_return std::move(pair).error();
  auto done = co_await owner.serve_egress("acme", std::move(pair->two));
  scope.cancel();
  co_return done;
}

TEST(BrokerOwner, HandsTheSocketOfAnEgressOver) {
  Heard heard;
  Fixture with{[&](const os::Fd& socket) {
    heard = hear(socket).value_or(Heard{});
    say(socket, frame::EgressServed{"acme"});
  }};
  ASSERT_TRUE(async::block_on(with.loop, async::in_scope(hand_over, std::ref(*with.owner))));
  EXPECT_EQ(heard.message, frame::OwnerToBroker(frame::ServeEgress{"acme"}));
  EXPECT_EQ(heard.fds.size(), 1U);
}

TEST(BrokerOwner, TakesNoAnswerToWhatNobodyAsked) {
  Fixture with{[](const os::Fd& socket) {
    say(socket, frame::GrantsRevoked{1});
    static_cast<void>(hear(socket));
  }};
  const Status bound = bind(with);
  EXPECT_FALSE(bound);
}

}  // namespace
}  // namespace cordon::node
