// SPDX-License-Identifier: Apache-2.0
// The real broker between its owner and an egress, as they will meet it.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>

#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "async/scope.h"
#include "egress/broker_link.h"
#include "node/broker_owner.h"
#include "started.h"

namespace cordon {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kSentinel = "tuesday-sentinel-9f2c";

egress::SecretRequest a_question(std::string path = "/repos/acme/one") {
  return {.sandbox = "abc",
          .grant = "github",
          .host = "api.github.com",
          .method = "GET",
          .path = std::move(path)};
}

WipedBytes sentinel() {
  const auto bytes = as_bytes(kSentinel);
  return {bytes.begin(), bytes.end()};
}

struct Between {
  Between() : broker{} {
    EXPECT_TRUE(broker.is_ready());
    auto [owner_socket, egress_socket] = broker.take_sockets();
    owner = std::make_unique<node::BrokerOwner>(
        loop.get_executor(), std::move(owner_socket),
        node::BrokerOwner::Callbacks{
            .used = [this](const frame::GrantUsed& used) { uses.push_back(used); },
            .lost = [this] { ++owner_lost; }});
    link = std::make_unique<egress::BrokerLink>(
        loop.get_executor(), std::move(egress_socket),
        egress::BrokerLink::Callbacks{
            .revoked = [this](const std::string&,
                              const std::string&) { revoked = steady_clock::now(); },
            .lost = [this] { link_lost = steady_clock::now(); }});
  }

  StartedBroker broker;
  asio::io_context loop{1};
  std::unique_ptr<node::BrokerOwner> owner;
  std::unique_ptr<egress::BrokerLink> link;
  std::vector<frame::GrantUsed> uses;
  int owner_lost = 0;
  std::optional<steady_clock::time_point> revoked;
  std::optional<steady_clock::time_point> link_lost;
};

asio::awaitable<void> pause(milliseconds time) {
  asio::steady_timer timer{co_await asio::this_coro::executor, time};
  co_await timer.async_wait(asio::use_awaitable);
}

async::Task<void> bind_use_revoke(async::Scope& scope, Between& with) {
  scope.spawn(with.owner->run());
  scope.spawn(with.link->run());
  CO_TRY_DO(co_await with.owner->bind(a_grant({}), sentinel()));

  std::vector<microseconds> took;
  for (int i = 0; i < 500; ++i) {
    const auto start = steady_clock::now();
    CO_TRY(const auto header, co_await with.link->ask(a_question()));
    took.push_back(std::chrono::duration_cast<microseconds>(steady_clock::now() - start));
    EXPECT_EQ(as_text(header.secret()), kSentinel);
  }
  std::ranges::sort(took);
  std::cout << "one header: min " << took.front().count() << " us, p50 "
            << took[took.size() / 2].count() << " us\n";

  const auto wrong = co_await with.link->ask(a_question("/repos/evil/one"));
  EXPECT_FALSE(wrong);
  if (!wrong) EXPECT_EQ(egress::code_of_refusal(wrong.error()), "cred_scope");

  const auto asked = steady_clock::now();
  const frame::RevokeGrants all{.sandbox = "abc"};
  CO_TRY(const auto count, co_await with.owner->revoke(all));
  EXPECT_EQ(count, 1U);
  const auto refused = co_await with.link->ask(a_question());
  EXPECT_FALSE(refused);
  if (!refused) EXPECT_EQ(egress::code_of_refusal(refused.error()), "cred_revoked");
  EXPECT_TRUE(with.revoked);
  // C182: within a second; in fact at once.
  if (with.revoked) EXPECT_LT(*with.revoked - asked, milliseconds{500});
  co_await pause(milliseconds{20});
  scope.cancel();
  co_return Status{};
}

TEST(BrokerLinks, BindUseAndRevokeThroughTheRealBroker) {
  Between with;
  const Status done = async::block_on(with.loop, async::in_scope(bind_use_revoke, std::ref(with)));
  ASSERT_TRUE(done) << done.error().text();
  ASSERT_EQ(with.uses.size(), 502U) << "each use and each refusal";
  EXPECT_EQ(with.uses.front().verdict, frame::SecretVerdict::given);
  EXPECT_EQ(with.uses.front().path, "/repos/acme/one");
  EXPECT_EQ(with.uses[500].verdict, frame::SecretVerdict::cred_scope);
  EXPECT_EQ(with.uses[501].verdict, frame::SecretVerdict::cred_revoked);
}

async::Task<void> outlive(async::Scope& scope, Between& with) {
  scope.spawn(with.owner->run());
  scope.spawn(with.link->run());
  CO_TRY_DO(co_await with.owner->bind(a_grant({}), sentinel()));
  CO_TRY(const auto header, co_await with.link->ask(a_question()));
  EXPECT_EQ(as_text(header.secret()), kSentinel);
  const auto killed = steady_clock::now();
  EXPECT_EQ(::kill(with.broker.pid(), SIGKILL), 0);
  const auto refused = co_await with.link->ask(a_question());
  EXPECT_FALSE(refused);
  if (!refused) EXPECT_EQ(egress::code_of_refusal(refused.error()), "proxy_unavailable");
  while (!with.link->is_lost() || !with.owner->is_lost()) co_await pause(milliseconds{1});
  EXPECT_LT(steady_clock::now() - killed, milliseconds{1000});
  scope.cancel();
  co_return Status{};
}

TEST(BrokerLinks, BothSidesLearnOfABrokerThatWasKilled) {
  Between with;
  const Status done = async::block_on(with.loop, async::in_scope(outlive, std::ref(with)));
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(with.owner_lost, 1);
  EXPECT_TRUE(with.link_lost);
}

}  // namespace
}  // namespace cordon
