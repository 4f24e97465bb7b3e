// SPDX-License-Identifier: Apache-2.0
// Every message of the broker survives the wire, nothing out of bounds is read, and a secret is
// where it was put and nowhere else.
#include "frame/broker.h"

#include <array>

#include <gtest/gtest.h>

#include "frame/placeholder.h"
#include "frame/variant.h"

namespace cordon::frame {
namespace {

constexpr std::string_view kSentinel = "tuesday-sentinel-9f2c";

SecretView seen(std::string_view text) { return {as_bytes(text)}; }

std::array<std::byte, kLongestBrokerMessage>& memory() {
  static std::array<std::byte, kLongestBrokerMessage> bytes;
  return bytes;
}

BindGrant some_bind() {
  return {.sandbox = "abc",
          .tenant = "acme",
          .grant = "github",
          .placeholder = "cordon-placeholder-0",
          .host = "api.github.com",
          .port = 443,
          .methods = {"GET", "HEAD"},
          .paths = {"/repos/acme/**"},
          .header = "Authorization: Bearer {secret}",
          .ttl_seconds = 60,
          .requests_per_minute = 9,
          .secret = seen(kSentinel)};
}

std::vector<OwnerToBroker> all_owner() {
  return {some_bind(),
          RevokeGrants{.sandbox = "abc", .grant = "github"},
          ServeEgress{.tenant = "acme"},
          KeepSecret{.tenant = "acme", .name = "token", .secret = seen(kSentinel)},
          DropSecret{.tenant = "acme", .name = "token"},
          ListSecrets{.tenant = "acme", .after = "token"}};
}

std::vector<BrokerToEgress> all_to_egress() {
  return {SecretGiven{.number = 1ULL << 40U,
                      .header = "Authorization",
                      .secret_offset = 7,
                      .secret_size = 21,
                      .value = seen("Bearer tuesday-sentinel-9f2c")},
          NoSecret{.number = 2, .code = SecretVerdict::cred_rate, .text = "too many"},
          GrantRevoked{.sandbox = "abc", .grant = "github"}};
}

std::vector<std::byte> written(const auto& message) {
  const auto bytes = encode_into(memory(), message);
  EXPECT_TRUE(bytes);
  return {bytes->begin(), bytes->end()};
}

TEST(BrokerCodec, ReadsBackEveryMessage) {
  ASSERT_EQ(all_owner().size(), std::variant_size_v<OwnerToBroker>);
  for (const OwnerToBroker& message : all_owner()) {
    const auto bytes = written(message);
    const auto read = decode_owner_to_broker(bytes);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, message) << message.index();
  }
  ASSERT_EQ(all_to_egress().size(), std::variant_size_v<BrokerToEgress>);
  for (const BrokerToEgress& message : all_to_egress()) {
    const auto bytes = written(message);
    const auto read = decode_broker_to_egress(bytes);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, message) << message.index();
  }
  const std::vector<BrokerToOwner> to_owner{
      GrantBound{"abc", "github"},
      GrantsRevoked{3},
      EgressServed{"acme"},
      GrantRefused{"abc", "github", "malformed", "why"},
      GrantUsed{"abc", "github", "h", "GET", "/p", SecretVerdict::cred_scope},
      SecretKept{"token", 2},
      SecretDropped{"token", true, 1},
      SecretNames{{"one", "two"}}};
  ASSERT_EQ(to_owner.size(), std::variant_size_v<BrokerToOwner>);
  for (const BrokerToOwner& message : to_owner) {
    const auto read = decode_broker_to_owner(encode(message));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, message) << message.index();
  }
  const EgressToBroker ask = AskSecret{7, "abc", "github", "api.github.com", 443, "GET", "/r"};
  const auto read = decode_egress_to_broker(encode(ask));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, ask);
}

TEST(BrokerCodec, ReadsBackWhatASourceIsToldAndSays) {
  const LauncherToSource task = SourceTask{7, "api.github.com", "file:/etc/token"};
  const auto told = decode_launcher_to_source(encode(task));
  ASSERT_TRUE(told);
  EXPECT_EQ(*told, task);
  for (const SourceToBroker& message :
       {SourceToBroker{SourceRead{7, "api.github.com", seen(kSentinel)}},
        SourceToBroker{SourceFailed{7, "env:TOKEN: the variable is not set"}}}) {
    const auto bytes = written(message);
    const auto read = decode_source_to_broker(bytes);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, message) << message.index();
  }
  for (const SourceToBroker& bad :
       {SourceToBroker{SourceRead{0, "api.github.com", seen(kSentinel)}},
        SourceToBroker{SourceRead{7, "", seen(kSentinel)}},
        SourceToBroker{SourceRead{7, "api.github.com", {}}},
        SourceToBroker{SourceFailed{0, "x"}}}) {
    EXPECT_FALSE(decode_source_to_broker(written(bad)));
  }
}

TEST(BrokerCodec, RefusesAGrantThatHasItsSecretFromTwoPlaces) {
  BindGrant ticketed = some_bind();
  ticketed.ticket = 7;
  EXPECT_FALSE(decode_owner_to_broker(written(OwnerToBroker{ticketed})));
  ticketed.secret = {};
  EXPECT_TRUE(decode_owner_to_broker(written(OwnerToBroker{ticketed})));
  BindGrant both = some_bind();
  both.stored = "token";
  EXPECT_FALSE(decode_owner_to_broker(written(OwnerToBroker{both})));
  both.secret = {};
  EXPECT_TRUE(decode_owner_to_broker(written(OwnerToBroker{both})));
}

TEST(BrokerCodec, WritesASecretAsTheGeneralCodecWould) {
  const OwnerToBroker message = some_bind();
  EXPECT_EQ(written(message), encode_variant(message));
}

TEST(BrokerCodec, ShowsASecretWhereItLiesInsteadOfCopyingIt) {
  const auto bytes = written(OwnerToBroker{some_bind()});
  const auto read = decode_owner_to_broker(bytes);
  ASSERT_TRUE(read);
  const auto& bind = std::get<BindGrant>(*read);
  EXPECT_GE(bind.secret.bytes.data(), bytes.data());
  EXPECT_EQ(bind.secret.bytes.data() + bind.secret.bytes.size(), bytes.data() + bytes.size());
}

TEST(BrokerCodec, RefusesEveryMessageThatIsCutShortOrHasMore) {
  for (const OwnerToBroker& message : all_owner()) {
    auto bytes = written(message);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(decode_owner_to_broker(std::span{bytes}.first(length))) << message.index();
    }
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode_owner_to_broker(bytes)) << message.index();
  }
}

TEST(BrokerCodec, SaysNothingOfASecretInItsErrors) {
  auto bytes = written(OwnerToBroker{some_bind()});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::byte kept = bytes[i];
    bytes[i] ^= std::byte{0xff};
    const auto read = decode_owner_to_broker(bytes);
    if (!read) {
      EXPECT_EQ(read.error().text().find("sentinel"), std::string::npos) << i;
    }
    bytes[i] = kept;
  }
}

TEST(BrokerCodec, RefusesASecretLongerThanAny) {
  const std::string most(kLongestSecret, 'x');
  BindGrant bind = some_bind();
  bind.secret = seen(most);
  EXPECT_TRUE(decode_owner_to_broker(written(OwnerToBroker{bind})));
  const std::string more(kLongestSecret + 1, 'x');
  bind.secret = seen(more);
  EXPECT_FALSE(decode_owner_to_broker(written(OwnerToBroker{bind})));
}

TEST(BrokerCodec, RefusesTextsThatAreTooLongOrNoText) {
  struct Case {
    const char* what;
    void (*spoil)(BindGrant&);
  };
  const Case cases[] = {
      {"long sandbox", [](BindGrant& b) { b.sandbox.resize(kLongestBrokerText + 1, 'a'); }},
      {"long grant", [](BindGrant& b) { b.grant.resize(kLongestBrokerText + 1, 'a'); }},
      {"long host", [](BindGrant& b) { b.host.resize(kLongestBrokerText + 1, 'a'); }},
      {"long header", [](BindGrant& b) { b.header.resize(kLongestBrokerText + 1, 'a'); }},
      {"long method", [](BindGrant& b) { b.methods[0].resize(kLongestBrokerText + 1, 'a'); }},
      {"NUL", [](BindGrant& b) { b.host.push_back('\0'); }},
      {"line end", [](BindGrant& b) { b.header += "\r\nX: y"; }},
      {"no UTF-8", [](BindGrant& b) { b.tenant = "\xff"; }},
      {"many methods", [](BindGrant& b) { b.methods.assign(kMostBrokerItems + 1, "GET"); }},
      {"many paths", [](BindGrant& b) { b.paths.assign(kMostBrokerItems + 1, "/a"); }},
  };
  ASSERT_TRUE(decode_owner_to_broker(written(OwnerToBroker{some_bind()})));
  for (const Case& each : cases) {
    BindGrant bind = some_bind();
    each.spoil(bind);
    EXPECT_FALSE(decode_owner_to_broker(written(OwnerToBroker{bind}))) << each.what;
  }
}

TEST(BrokerCodec, RefusesMessagesThatMeanNothing) {
  EXPECT_TRUE(decode_owner_to_broker(written(OwnerToBroker{RevokeGrants{.tenant = "t"}})));
  EXPECT_FALSE(decode_owner_to_broker(written(OwnerToBroker{RevokeGrants{}})));
  EXPECT_FALSE(
      decode_owner_to_broker(written(OwnerToBroker{RevokeGrants{.grant = "g", .tenant = "t"}})));
  EXPECT_FALSE(decode_broker_to_egress(
      written(BrokerToEgress{NoSecret{.number = 1, .code = SecretVerdict::given}})));
  SecretGiven given{
      .number = 1, .header = "A", .secret_offset = 2, .secret_size = 2, .value = seen("abcd")};
  EXPECT_TRUE(decode_broker_to_egress(written(BrokerToEgress{given})));
  given.secret_offset = 3;
  EXPECT_FALSE(decode_broker_to_egress(written(BrokerToEgress{given})));
  given = {.number = 1, .header = "A", .secret_offset = 0, .secret_size = 0, .value = seen("a")};
  EXPECT_FALSE(decode_broker_to_egress(written(BrokerToEgress{given})));
}

TEST(Placeholder, IsKnownByItsShape) {
  std::array<std::byte, kPlaceholderBytes> bytes{};
  bytes[0] = std::byte{0xab};
  const std::string made = placeholder_from(bytes);
  EXPECT_EQ(made, "cordon-placeholder-ab000000000000000000000000000000");
  EXPECT_TRUE(is_placeholder(made));
  EXPECT_FALSE(is_placeholder(made + "0"));
  EXPECT_FALSE(is_placeholder(made.substr(1)));
  EXPECT_FALSE(is_placeholder(made.substr(0, made.size() - 1) + "G"));
  EXPECT_FALSE(is_placeholder(""));
}

TEST(BrokerCodec, DoesNotWritePastItsMemory) {
  std::array<std::byte, 64> small{};
  EXPECT_FALSE(encode_into(small, OwnerToBroker{some_bind()}));
  EXPECT_TRUE(encode_into(small, OwnerToBroker{ServeEgress{"t"}}));
}

}  // namespace
}  // namespace cordon::frame
