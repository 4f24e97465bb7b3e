// SPDX-License-Identifier: Apache-2.0
// What a broker is told of grants, and what its successor is told after its death.
#include "node/tenant_broker.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <set>
#include <sys/socket.h>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "base/bytes.h"
#include "os/socket.h"
#include "policy/host.h"

namespace cordon::node {
namespace {

constexpr WallTime kBegan{std::chrono::hours{1000}};

// A broker's answers, and what it was told. Its store outlives each of its lives.
class FakeBroker {
 public:
  FakeBroker() = default;
  FakeBroker(const FakeBroker&) = delete;
  FakeBroker& operator=(const FakeBroker&) = delete;
  ~FakeBroker() {
    die();
    for (std::thread& life : lives_) life.join();
  }

  os::Fd begin() {
    auto pair = os::socketpair(os::SocketType::seqpacket);
    const std::lock_guard lock{mutex_};
    link_ = *os::duplicate(pair->two);
    lives_.emplace_back([this, socket = std::move(pair->two)] { serve(socket); });
    return std::move(pair->one);
  }
  // Whoever hears it finds the end of its socket.
  void die() {
    const std::lock_guard lock{mutex_};
    if (link_) ::shutdown(link_.get(), SHUT_RDWR);
    link_ = {};
  }
  std::vector<std::string> take_told() {
    const std::lock_guard lock{mutex_};
    return std::exchange(told_, {});
  }

 private:
  void serve(const os::Fd& socket) {
    std::vector<std::byte> bytes(frame::kLongestBrokerMessage);
    for (;;) {
      const auto got = os::receive(socket, bytes, 1);
      if (!got || got->bytes == 0) return;
      const auto message = frame::decode_owner_to_broker(std::span{bytes}.first(got->bytes));
      if (!message) return;
      const std::lock_guard lock{mutex_};
      const auto answer = std::visit([this](const auto& known) { return hear(known); }, *message);
      static_cast<void>(os::send(socket, frame::encode(answer)));
    }
  }
  frame::BrokerToOwner hear(const frame::BindGrant& bind) {
    if (!kept_.contains(bind.stored)) {
      return frame::GrantRefused{bind.sandbox, bind.grant, "not_found", "no such secret"};
    }
    told_.push_back("bind " + bind.sandbox + " " + bind.stored + " " +
                    std::to_string(bind.ttl_seconds));
    EXPECT_TRUE(bind.secret.bytes.empty());
    return frame::GrantBound{bind.sandbox, bind.grant};
  }
  frame::BrokerToOwner hear(const frame::RevokeGrants& revoke) {
    told_.push_back("revoke " + revoke.sandbox);
    return frame::GrantsRevoked{1};
  }
  frame::BrokerToOwner hear(const frame::ServeEgress& egress) {
    told_.emplace_back("egress");
    return frame::EgressServed{egress.tenant};
  }
  frame::BrokerToOwner hear(const frame::KeepSecret& keep) {
    kept_.insert(keep.name);
    told_.push_back("keep " + keep.name);
    return frame::SecretKept{keep.name, 0};
  }
  frame::BrokerToOwner hear(const frame::DropSecret& drop) {
    return frame::SecretDropped{drop.name, kept_.erase(drop.name) > 0, 0};
  }
  frame::BrokerToOwner hear(const frame::ListSecrets& /*all*/) {
    return frame::SecretNames{{kept_.begin(), kept_.end()}};
  }

  std::mutex mutex_;
  os::Fd link_;
  std::list<std::thread> lives_;
  std::set<std::string> kept_;
  std::vector<std::string> told_;
};

HeldGrant grant_of(const std::string& secret, std::uint64_t ttl = 900) {
  return {policy::Grant{.name = "of-" + secret,
                        .from = secret,
                        .host = *policy::parse_host_pattern("api.example.com"),
                        .header = "A: {secret}",
                        .ttl_seconds = ttl},
          "placeholder"};
}

WipedBytes bytes_of(std::string_view text) {
  const auto bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

using Told = std::vector<std::string>;

// All in one turn of a loop: what a test says runs beside what keeps the broker.
class TenantBrokerOf : public testing::Test {
 public:
  using Act = async::Task<void> (*)(TenantBrokerOf&);
  void run(Act act) {
    const auto done = async::block_on(
        loop_, async::in_scope(
                   [](async::Scope& scope, TenantBrokerOf* self, Act what) -> async::Task<void> {
                     scope.spawn(self->broker_.keep(scope));
                     auto ended = co_await what(*self);
                     scope.cancel();
                     co_return ended;
                   },
                   this, act));
    EXPECT_TRUE(done) << done.error().text();
  }
  async::Task<os::Fd> open() { co_return fake_.begin(); }
  async::Task<void> connect(os::Fd /*egress*/) {
    ++connected_;
    co_return Status{};
  }
  // Until a successor has been told of all that there is.
  async::Task<void> until_back(int connected) {
    while (connected_ < connected) {
      asio::steady_timer look{loop_, std::chrono::milliseconds{5}};
      co_await look.async_wait(asio::use_awaitable);
    }
    co_return co_await names();
  }
  async::Task<void> names() {
    CO_TRY_DO(co_await broker_.names());
    co_return Status{};
  }

  asio::io_context loop_{1};
  ManualClock clock_{kBegan};
  FakeBroker fake_;
  int connected_ = 0;
  TenantBroker broker_{loop_.get_executor(),
                       clock_,
                       "acme",
                       {.open = [this] { return open(); },
                        .connect = [this](os::Fd fd) { return connect(std::move(fd)); }}};
};

TEST_F(TenantBrokerOf, OneThatDiesIsToldAgainOfWhatIsLeft) {
  run([](TenantBrokerOf& test) -> async::Task<void> {
    TenantBroker& broker = test.broker_;
    FakeBroker& fake = test.fake_;
    CO_TRY_DO(co_await broker.put("one", bytes_of("x")));
    CO_TRY_DO(co_await broker.put("two", bytes_of("x")));
    CO_TRY_DO(co_await broker.grant("aaaa", {{grant_of("one"), grant_of("two", 50)}, kBegan, {}}));
    EXPECT_EQ(fake.take_told(),
              (Told{"egress", "keep one", "keep two", "bind aaaa one 900", "bind aaaa two 50"}));
    test.clock_.advance(std::chrono::seconds{100});
    fake.die();
    CO_TRY_DO(co_await test.until_back(2));
    // What has expired does not live again, and nothing lives longer.
    EXPECT_EQ(fake.take_told(), (Told{"bind aaaa one 800", "egress"}));
    broker.forget("aaaa");
    fake.die();
    CO_TRY_DO(co_await test.until_back(3));
    const Told last = fake.take_told();
    EXPECT_EQ(std::ranges::count(last, "bind aaaa one 800"), 0);
    co_return Status{};
  });
}

TEST_F(TenantBrokerOf, ASecretThatIsReplacedIsBoundAgainAndOneThatIsDroppedNever) {
  run([](TenantBrokerOf& test) -> async::Task<void> {
    TenantBroker& broker = test.broker_;
    FakeBroker& fake = test.fake_;
    CO_TRY_DO(co_await broker.put("one", bytes_of("x")));
    CO_TRY_DO(co_await broker.grant("aaaa", {{grant_of("one")}, kBegan, {}}));
    static_cast<void>(fake.take_told());
    CO_TRY_DO(co_await broker.put("one", bytes_of("y")));
    EXPECT_EQ(fake.take_told(), (Told{"keep one", "bind aaaa one 900"}));
    CO_TRY(const bool was_there, co_await broker.drop("one"));
    EXPECT_TRUE(was_there);
    CO_TRY_DO(co_await broker.put("one", bytes_of("z")));
    EXPECT_EQ(fake.take_told(), (Told{"keep one"}));
    fake.die();
    CO_TRY_DO(co_await test.until_back(2));
    EXPECT_EQ(fake.take_told(), (Told{"egress"}));
    co_return Status{};
  });
}

TEST_F(TenantBrokerOf, OneThatLivesDoesWithoutWhatIsGoneAndKeepsTheRest) {
  run([](TenantBrokerOf& test) -> async::Task<void> {
    TenantBroker& broker = test.broker_;
    CO_TRY_DO(co_await broker.put("one", bytes_of("x")));
    CO_TRY_DO(
        co_await broker.grant_again("aaaa", {{grant_of("gone"), grant_of("one")}, kBegan, {}}));
    EXPECT_EQ(test.fake_.take_told(), (Told{"egress", "keep one", "bind aaaa one 900"}));
    EXPECT_EQ(broker.grants_of("aaaa"), std::vector{grant_of("one")});
    // Also when one of that name comes later.
    CO_TRY_DO(co_await broker.put("gone", bytes_of("x")));
    EXPECT_EQ(test.fake_.take_told(), Told{"keep gone"});
    co_return Status{};
  });
}

TEST_F(TenantBrokerOf, ASandboxThatHasEndedIsGivenNothingAnyMore) {
  run([](TenantBrokerOf& test) -> async::Task<void> {
    CO_TRY_DO(co_await test.broker_.put("one", bytes_of("x")));
    CO_TRY_DO(co_await test.broker_.grant("aaaa", {{grant_of("one")}, kBegan, {}}));
    static_cast<void>(test.fake_.take_told());
    test.broker_.forget("aaaa");
    test.broker_.forget("bbbb");
    Told told;
    const Ticks late = std::chrono::steady_clock::now() + std::chrono::seconds{5};
    while (told.empty() && std::chrono::steady_clock::now() < late) {
      CO_TRY_DO(co_await test.names());
      told = test.fake_.take_told();
    }
    EXPECT_EQ(told, Told{"revoke aaaa"});
    co_return Status{};
  });
}

TEST_F(TenantBrokerOf, WhatIsNotThereIsNotGranted) {
  run([](TenantBrokerOf& test) -> async::Task<void> {
    const auto granted = co_await test.broker_.grant("aaaa", {{grant_of("none")}, kBegan, {}});
    EXPECT_FALSE(granted);
    if (!granted) EXPECT_EQ(granted.error().code(), Errc::invalid);
    co_return Status{};
  });
}

}  // namespace
}  // namespace cordon::node
