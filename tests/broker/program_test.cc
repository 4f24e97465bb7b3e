// SPDX-License-Identifier: Apache-2.0
// The program does all of its work behind its filter, as any user.
#include <chrono>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "broker/serve.h"
#include "os/file.h"
#include "os/filter/own_filter.h"
#include "os/memfd.h"
#include "started.h"

namespace cordon {
namespace {

using frame::SecretVerdict;

SecretVerdict verdict(const std::optional<Told>& told) {
  if (!told) return SecretVerdict::cred_unrecorded;
  const auto* no = std::get_if<frame::NoSecret>(&told->message);
  return no == nullptr ? SecretVerdict::given : no->code;
}

TEST(BrokerProgram, GivesRefusesAndRevokesBehindItsFilter) {
  StartedBroker broker;
  ASSERT_TRUE(broker.is_ready());
  ASSERT_EQ(broker.tell(a_grant("tuesday-sentinel")),
            frame::BrokerToOwner(frame::GrantBound{"abc", "github"}));
  const auto told = broker.ask(a_request(1));
  EXPECT_EQ(verdict(told), SecretVerdict::given);
  EXPECT_EQ(value_of(told), "Bearer tuesday-sentinel");
  EXPECT_TRUE(broker.heard_by_owner());

  frame::AskSecret wrong = a_request(2);
  wrong.path = "/repos/evil/one";
  EXPECT_EQ(verdict(broker.ask(wrong)), SecretVerdict::cred_scope);
  EXPECT_TRUE(broker.heard_by_owner());

  EXPECT_EQ(broker.tell(frame::RevokeGrants{.sandbox = "abc"}),
            frame::BrokerToOwner(frame::GrantsRevoked{1}));
  const auto pushed = broker.heard_by_egress().value_or(Told{});
  EXPECT_EQ(pushed.message, frame::BrokerToEgress(frame::GrantRevoked{"abc", "github"}));
  EXPECT_EQ(verdict(broker.ask(a_request(3))), SecretVerdict::cred_revoked);
}

// The longest, many, replaced and refused: memory is taken and given back by calls of the list.
TEST(BrokerProgram, HoldsLongSecretsAndManyGrants) {
  StartedBroker broker;
  ASSERT_TRUE(broker.is_ready());
  const std::string longest(frame::kLongestSecret - std::string_view{"Bearer "}.size(), 's');
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(broker.tell(a_grant(longest))));
  EXPECT_EQ(value_of(broker.ask(a_request(1))), "Bearer " + longest);
  EXPECT_TRUE(broker.heard_by_owner());
  // Each is a page: fewer than an ordinary user may lock.
  constexpr int kMany = 300;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kMany; ++i) {
      const auto answer =
          broker.tell(a_grant("secret-" + std::to_string(i), "g" + std::to_string(i)));
      ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(answer)) << i;
    }
  }
  for (int i = 0; i < kMany; ++i) {
    const auto one = broker.ask(a_request(2, "g" + std::to_string(i)));
    EXPECT_EQ(value_of(one), "Bearer secret-" + std::to_string(i));
    ASSERT_TRUE(broker.heard_by_owner());
  }
  EXPECT_EQ(broker.tell(frame::RevokeGrants{.tenant = "acme"}),
            frame::BrokerToOwner(frame::GrantsRevoked{kMany + 1}));
}

TEST(BrokerProgram, ForgetsAGrantWhenItsTimeIsOver) {
  StartedBroker broker;
  ASSERT_TRUE(broker.is_ready());
  frame::BindGrant grant = a_grant("tuesday-sentinel");
  grant.ttl_seconds = 1;
  ASSERT_TRUE(std::holds_alternative<frame::GrantBound>(broker.tell(grant)));
  EXPECT_EQ(verdict(broker.ask(a_request(1))), SecretVerdict::given);
  std::this_thread::sleep_for(std::chrono::milliseconds{1100});
  EXPECT_EQ(verdict(broker.ask(a_request(2))), SecretVerdict::cred_expired);
}

TEST(BrokerProgram, ServesAnEgressThatItsOwnerSends) {
  StartedBroker broker;
  ASSERT_TRUE(broker.is_ready());
  const auto pair = os::socketpair(os::SocketType::seqpacket);
  ASSERT_TRUE(pair);
  const std::array<const os::Fd*, 1> fds{&pair->two};
  EXPECT_EQ(broker.tell(frame::ServeEgress{"other"}, fds),
            frame::BrokerToOwner(frame::EgressServed{"other"}));
}

// The file and the key come from the launcher; what is kept there outlives the program.
TEST(BrokerProgram, KeepsSecretsInAStoreBehindItsFilter) {
  const auto file = os::memfd_create("store");
  const auto key = os::memfd_create("key");
  ASSERT_TRUE(file && key);
  ASSERT_TRUE(os::write_all(*key, std::string(32, 'k')));
  frame::BindGrant bind = a_grant("");
  bind.stored = "token";
  {
    StartedBroker broker{*file, *key};
    ASSERT_TRUE(broker.is_ready());
    const auto unknown = broker.tell(bind);
    ASSERT_TRUE(std::holds_alternative<frame::GrantRefused>(unknown));
    EXPECT_EQ(std::get<frame::GrantRefused>(unknown).code, "not_found");
    for (const char* value : {"an-old-one", "sentinel-stored"}) {
      const frame::KeepSecret keep{"acme", "token", {as_bytes(value)}};
      EXPECT_TRUE(std::holds_alternative<frame::SecretKept>(broker.tell(keep)));
    }
    EXPECT_TRUE(std::holds_alternative<frame::GrantBound>(broker.tell(bind)));
    EXPECT_EQ(value_of(broker.ask(a_request(1))), "Bearer sentinel-stored");
    // The next one is another secret: grants of the old one end, and their egress hears it.
    static_cast<void>(broker.heard_by_owner());  // of the use
    const auto replaced = broker.tell(frame::KeepSecret{"acme", "token", {as_bytes("newer")}});
    ASSERT_TRUE(std::holds_alternative<frame::SecretKept>(replaced));
    EXPECT_EQ(std::get<frame::SecretKept>(replaced).revoked, 1U);
    const auto told = broker.heard_by_egress();
    ASSERT_TRUE(told && std::holds_alternative<frame::GrantRevoked>(told->message));
    broker.leave();
    EXPECT_EQ(broker.wait().value, 0);
  }
  StartedBroker broker{*file, *key};
  const auto names = broker.tell(frame::ListSecrets{"acme", ""});
  ASSERT_TRUE(std::holds_alternative<frame::SecretNames>(names));
  EXPECT_EQ(std::get<frame::SecretNames>(names).names, std::vector<std::string>{"token"});
  // Another tenant has neither the name nor the secret.
  EXPECT_EQ(std::get<frame::SecretNames>(broker.tell(frame::ListSecrets{"other", ""})).names,
            std::vector<std::string>{});
  EXPECT_TRUE(std::holds_alternative<frame::GrantBound>(broker.tell(bind)));
  EXPECT_EQ(value_of(broker.ask(a_request(2))), "Bearer newer");
  static_cast<void>(broker.heard_by_owner());
  const auto dropped = broker.tell(frame::DropSecret{"acme", "token"});
  ASSERT_TRUE(std::holds_alternative<frame::SecretDropped>(dropped));
  EXPECT_TRUE(std::get<frame::SecretDropped>(dropped).was_there);
  EXPECT_TRUE(std::holds_alternative<frame::GrantRefused>(broker.tell(bind)));
}

TEST(BrokerProgram, DoesNotStartOverAStoreOfAnotherKey) {
  const auto file = os::memfd_create("store");
  const auto key = os::memfd_create("key");
  const auto other = os::memfd_create("other");
  ASSERT_TRUE(file && key && other);
  ASSERT_TRUE(os::write_all(*key, std::string(32, 'k')));
  ASSERT_TRUE(os::write_all(*other, std::string(32, 'o')));
  {
    StartedBroker first{*file, *key};
  }
  StartedBroker second{*file, *other};
  EXPECT_EQ(second.wait().value, 125);
}

TEST(BrokerProgram, SaysThatItHasNoStore) {
  StartedBroker broker;
  frame::BindGrant bind = a_grant("");
  bind.stored = "token";
  for (const frame::OwnerToBroker& message : std::initializer_list<frame::OwnerToBroker>{
           bind, frame::KeepSecret{"acme", "token", {as_bytes("x")}},
           frame::DropSecret{"acme", "token"}, frame::ListSecrets{"acme", ""}}) {
    const auto answer = broker.tell(message);
    ASSERT_TRUE(std::holds_alternative<frame::GrantRefused>(answer)) << message.index();
    EXPECT_EQ(std::get<frame::GrantRefused>(answer).text, "there is no store of secrets here");
  }
}

TEST(BrokerProgram, EndsWithItsOwner) {
  StartedBroker broker;
  ASSERT_TRUE(broker.is_ready());
  broker.leave();
  const os::ExitStatus end = broker.wait();
  EXPECT_EQ(end.kind, os::ExitStatus::Kind::exited);
  EXPECT_EQ(end.value, 0);

  StartedBroker other;
  ASSERT_TRUE(other.is_ready());
  other.send_raw("nonsense");
  EXPECT_EQ(other.wait().value, 125);
}

TEST(BrokerProgram, HasNoRightsAndNoFiles) {
  StartedBroker broker;
  ASSERT_TRUE(broker.is_ready());
  EXPECT_EQ(broker.status("NoNewPrivs"), "1");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    EXPECT_EQ(broker.status(set), "0000000000000000") << set;
  }
  EXPECT_EQ(broker.status("Threads"), "1");
}

}  // namespace
}  // namespace cordon
