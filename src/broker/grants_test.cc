// SPDX-License-Identifier: Apache-2.0
// Every part of a binding is judged again, each refusal beside the request that passes.
#include "broker/grants.h"

#include <chrono>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "broker/sentinel_test.h"

namespace cordon::broker {
namespace {

using frame::SecretVerdict;
using std::chrono::seconds;

constexpr Ticks kNow{std::chrono::hours{5}};

frame::BindGrant some_bind() {
  return {.sandbox = "abc",
          .tenant = "acme",
          .grant = "github",
          .placeholder = "cordon-placeholder-00112233445566778899aabbccddeeff",
          .host = "api.github.com",
          .methods = {"GET", "HEAD"},
          .paths = {"/repos/acme/**", "/"},
          .header = "Authorization: Bearer {secret}",
          .ttl_seconds = 60,
          .secret = {as_bytes(kSentinel)}};
}

frame::AskSecret some_ask() {
  return {.number = 1,
          .sandbox = "abc",
          .grant = "github",
          .host = "api.github.com",
          .port = 443,
          .method = "GET",
          .path = "/repos/acme/one"};
}

SecretVerdict verdict(const std::variant<Allowed, Refusal>& answer) {
  const auto* refusal = std::get_if<Refusal>(&answer);
  return refusal == nullptr ? SecretVerdict::given : refusal->code;
}

class GrantsTest : public testing::Test {
 protected:
  GrantsTest() {
    const Status bound = grants_.bind(some_bind(), kNow);
    EXPECT_TRUE(bound) << bound.error().text();
  }
  SecretVerdict ask(const frame::AskSecret& request, Ticks now = kNow,
                    std::string_view tenant = "acme") {
    return verdict(grants_.ask(tenant, request, now));
  }
  Grants grants_;
};

TEST_F(GrantsTest, GivesTheHeaderWithTheSecretInItsSlot) {
  const auto answer = grants_.ask("acme", some_ask(), kNow);
  const auto* allowed = std::get_if<Allowed>(&answer);
  ASSERT_NE(allowed, nullptr);
  EXPECT_EQ(allowed->header, "Authorization");
  EXPECT_EQ(as_text(allowed->secret->value()), "Bearer tuesday-sentinel-9f2c");
  EXPECT_EQ(
      as_text(allowed->secret->value().subspan(allowed->secret->offset(), allowed->secret->size())),
      kSentinel);
}

// C179.
TEST_F(GrantsTest, RefusesWhateverTheBindingDoesNotName) {
  struct Case {
    const char* what;
    SecretVerdict expected;
    void (*change)(frame::AskSecret&);
  };
  using V = SecretVerdict;
  const Case cases[] = {
      {"as bound", V::given, [](frame::AskSecret&) {}},
      {"another method of the list", V::given, [](frame::AskSecret& a) { a.method = "HEAD"; }},
      {"the root, which is listed", V::given, [](frame::AskSecret& a) { a.path = "/"; }},
      {"another host", V::cred_scope, [](frame::AskSecret& a) { a.host = "github.com"; }},
      {"a host below", V::cred_scope, [](frame::AskSecret& a) { a.host = "x.api.github.com"; }},
      {"a host in capitals", V::cred_scope, [](frame::AskSecret& a) { a.host = "API.github.com"; }},
      {"a host with a dot", V::cred_scope, [](frame::AskSecret& a) { a.host = "api.github.com."; }},
      {"another port", V::cred_scope, [](frame::AskSecret& a) { a.port = 80; }},
      {"another method", V::cred_scope, [](frame::AskSecret& a) { a.method = "POST"; }},
      {"a method in small letters", V::cred_scope, [](frame::AskSecret& a) { a.method = "get"; }},
      {"no method", V::cred_scope, [](frame::AskSecret& a) { a.method = ""; }},
      {"another path", V::cred_scope, [](frame::AskSecret& a) { a.path = "/repos/evil/one"; }},
      {"the path above", V::cred_scope, [](frame::AskSecret& a) { a.path = "/repos/acme"; }},
      {"a way out", V::cred_scope, [](frame::AskSecret& a) { a.path = "/repos/acme/../evil"; }},
      {"an escape", V::cred_scope, [](frame::AskSecret& a) { a.path = "/repos/acme/%2e%2e/evil"; }},
      {"a query", V::cred_scope, [](frame::AskSecret& a) { a.path = "/repos/acme/a?b"; }},
      {"two slashes", V::cred_scope, [](frame::AskSecret& a) { a.path = "/repos/acme//a"; }},
      {"no path", V::cred_scope, [](frame::AskSecret& a) { a.path = ""; }},
      {"another grant", V::cred_unknown, [](frame::AskSecret& a) { a.grant = "gitlab"; }},
      {"another sandbox", V::cred_unknown, [](frame::AskSecret& a) { a.sandbox = "abd"; }},
      {"no sandbox", V::cred_unknown, [](frame::AskSecret& a) { a.sandbox = ""; }},
  };
  for (const Case& each : cases) {
    frame::AskSecret request = some_ask();
    each.change(request);
    EXPECT_EQ(ask(request), each.expected) << each.what;
  }
}

// C181, C188: a grant of another tenant answers word for word as one that never was.
TEST_F(GrantsTest, TellsAnotherTenantNothing) {
  EXPECT_EQ(ask(some_ask(), kNow, "acme"), SecretVerdict::given);
  const auto foreign = grants_.ask("evil", some_ask(), kNow);
  frame::AskSecret absent = some_ask();
  absent.grant = "none";
  const auto never = grants_.ask("evil", absent, kNow);
  ASSERT_TRUE(std::holds_alternative<Refusal>(foreign));
  ASSERT_TRUE(std::holds_alternative<Refusal>(never));
  EXPECT_EQ(std::get<Refusal>(foreign).code, SecretVerdict::cred_unknown);
  EXPECT_EQ(std::get<Refusal>(foreign).text, std::get<Refusal>(never).text);
  // Also of what it once had.
  static_cast<void>(grants_.revoke({.sandbox = "abc"}));
  EXPECT_EQ(ask(some_ask(), kNow, "evil"), SecretVerdict::cred_unknown);
  EXPECT_EQ(ask(some_ask(), kNow, "acme"), SecretVerdict::cred_revoked);
}

TEST_F(GrantsTest, EndsWhenItsTimeIsOver) {
  EXPECT_EQ(ask(some_ask(), kNow + seconds{59}), SecretVerdict::given);
  EXPECT_EQ(ask(some_ask(), kNow + seconds{60}), SecretVerdict::cred_expired);
  EXPECT_EQ(grants_.good(), 0U);
  // And never comes back by itself.
  EXPECT_EQ(ask(some_ask(), kNow), SecretVerdict::cred_expired);
}

TEST_F(GrantsTest, WipesWhatExpiresThoughNobodyAsks) {
  EXPECT_EQ(grants_.expire(kNow), kNow + seconds{60});
  EXPECT_EQ(grants_.good(), 1U);
  EXPECT_EQ(grants_.expire(kNow + seconds{60}), std::nullopt);
  EXPECT_EQ(grants_.good(), 0U);
  EXPECT_EQ(ask(some_ask(), kNow), SecretVerdict::cred_expired);
}

TEST_F(GrantsTest, RevokesBySandboxByGrantAndByTenant) {
  const auto bind = [&](const char* sandbox, const char* tenant, const char* grant) {
    frame::BindGrant more = some_bind();
    more.sandbox = sandbox;
    more.tenant = tenant;
    more.grant = grant;
    ASSERT_TRUE(grants_.bind(more, kNow));
  };
  bind("abc", "acme", "npm");
  bind("xyz", "acme", "npm");
  bind("far", "other", "npm");
  const auto is = [&](const char* sandbox, const char* tenant, const char* grant) {
    frame::AskSecret request = some_ask();
    request.sandbox = sandbox;
    request.grant = grant;
    return ask(request, kNow, tenant);
  };
  EXPECT_EQ(grants_.revoke({.sandbox = "abc", .grant = "npm"}),
            (std::vector<RevokedGrant>{{"acme", "abc", "npm"}}));
  EXPECT_EQ(is("abc", "acme", "npm"), SecretVerdict::cred_revoked);
  EXPECT_EQ(is("abc", "acme", "github"), SecretVerdict::given);
  EXPECT_EQ(grants_.revoke({.sandbox = "abc"}).size(), 1U) << "only what was still good";
  EXPECT_EQ(is("abc", "acme", "github"), SecretVerdict::cred_revoked);
  EXPECT_EQ(is("xyz", "acme", "npm"), SecretVerdict::given);
  EXPECT_EQ(grants_.revoke({.tenant = "acme"}).size(), 1U);
  EXPECT_EQ(is("xyz", "acme", "npm"), SecretVerdict::cred_revoked);
  EXPECT_EQ(is("far", "other", "npm"), SecretVerdict::given);
  EXPECT_TRUE(grants_.revoke({.sandbox = "far", .tenant = "acme"}).empty()) << "not its tenant";
  EXPECT_EQ(is("far", "other", "npm"), SecretVerdict::given);
}

TEST(Grants, CountsARateOverAMinuteAndOnlyWhatWasRight) {
  Grants grants;
  frame::BindGrant bind = some_bind();
  bind.ttl_seconds = 900;
  bind.requests_per_minute = 3;
  ASSERT_TRUE(grants.bind(bind, kNow));
  const auto ask = [&](Ticks now) { return verdict(grants.ask("acme", some_ask(), now)); };
  frame::AskSecret wrong = some_ask();
  wrong.method = "POST";
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(verdict(grants.ask("acme", wrong, kNow)), SecretVerdict::cred_scope);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(kNow), SecretVerdict::given) << i;
  EXPECT_EQ(ask(kNow + seconds{59}), SecretVerdict::cred_rate);
  // A new value of the same grant is no new allowance.
  ASSERT_TRUE(grants.bind(bind, kNow + seconds{1}));
  EXPECT_EQ(ask(kNow + seconds{2}), SecretVerdict::cred_rate);
  EXPECT_EQ(ask(kNow + seconds{62}), SecretVerdict::given);
}

// C182.
TEST_F(GrantsTest, GivesOnlyTheNewValueAfterOneIsReplaced) {
  frame::BindGrant next = some_bind();
  const std::string value = "wednesday";
  next.secret = {as_bytes(value)};
  next.ttl_seconds = 120;
  ASSERT_TRUE(grants_.bind(next, kNow));
  EXPECT_EQ(grants_.good(), 1U);
  const auto answer = grants_.ask("acme", some_ask(), kNow + seconds{100});
  ASSERT_TRUE(std::holds_alternative<Allowed>(answer));
  EXPECT_EQ(as_text(std::get<Allowed>(answer).secret->value()), "Bearer wednesday");
  // One that was revoked can be given anew, by its owner only.
  static_cast<void>(grants_.revoke({.sandbox = "abc"}));
  EXPECT_EQ(ask(some_ask()), SecretVerdict::cred_revoked);
  ASSERT_TRUE(grants_.bind(next, kNow));
  EXPECT_EQ(ask(some_ask()), SecretVerdict::given);
  EXPECT_EQ(grants_.good(), 1U);
}

TEST(Grants, RefusesABindingThatIsNone) {
  struct Case {
    const char* what;
    Errc expected;
    void (*spoil)(frame::BindGrant&);
  };
  static const std::string ends_header = "a\r\nX: y";
  static const std::string has_nul{"a\0b", 3};
  const Case cases[] = {
      {"no sandbox", Errc::invalid, [](frame::BindGrant& b) { b.sandbox = ""; }},
      {"no tenant", Errc::invalid, [](frame::BindGrant& b) { b.tenant = ""; }},
      {"no name", Errc::invalid, [](frame::BindGrant& b) { b.grant = ""; }},
      {"a guessable placeholder", Errc::invalid, [](frame::BindGrant& b) { b.placeholder = "x"; }},
      {"a wildcard", Errc::invalid, [](frame::BindGrant& b) { b.host = "*.github.com"; }},
      {"an address", Errc::invalid, [](frame::BindGrant& b) { b.host = "192.0.2.1"; }},
      {"capitals", Errc::invalid, [](frame::BindGrant& b) { b.host = "API.github.com"; }},
      {"no host", Errc::invalid, [](frame::BindGrant& b) { b.host = ""; }},
      {"plain HTTP", Errc::invalid, [](frame::BindGrant& b) { b.port = 80; }},
      {"an empty method", Errc::invalid, [](frame::BindGrant& b) { b.methods = {""}; }},
      {"a path that is none", Errc::invalid, [](frame::BindGrant& b) { b.paths = {"a"}; }},
      {"too wide a path", Errc::invalid, [](frame::BindGrant& b) { b.paths = {"/**"}; }},
      {"no slot", Errc::invalid, [](frame::BindGrant& b) { b.header = "Authorization: Bearer"; }},
      {"a framing header", Errc::invalid, [](frame::BindGrant& b) { b.header = "Host: {secret}"; }},
      {"a proxy header", Errc::invalid,
       [](frame::BindGrant& b) { b.header = "Proxy-Authorization: {secret}"; }},
      {"no time", Errc::invalid, [](frame::BindGrant& b) { b.ttl_seconds = 0; }},
      {"all time", Errc::invalid, [](frame::BindGrant& b) { b.ttl_seconds = UINT64_MAX; }},
      {"no request", Errc::invalid, [](frame::BindGrant& b) { b.requests_per_minute = 0; }},
      {"no secret", Errc::invalid, [](frame::BindGrant& b) { b.secret = {}; }},
      {"a line end", Errc::invalid,
       [](frame::BindGrant& b) { b.secret = {as_bytes(ends_header)}; }},
      {"a NUL", Errc::invalid, [](frame::BindGrant& b) { b.secret = {as_bytes(has_nul)}; }},
  };
  Grants grants;
  for (const Case& each : cases) {
    frame::BindGrant bind = some_bind();
    each.spoil(bind);
    const Status bound = grants.bind(bind, kNow);
    ASSERT_FALSE(bound) << each.what;
    EXPECT_EQ(bound.error().code(), each.expected) << each.what;
    EXPECT_EQ(bound.error().text().find("sentinel"), std::string::npos) << bound.error().text();
    EXPECT_EQ(grants.good(), 0U) << each.what;
  }
  EXPECT_TRUE(grants.bind(some_bind(), kNow));
}

TEST_F(GrantsTest, GivesASandboxToOneTenantOnly) {
  frame::BindGrant other = some_bind();
  other.tenant = "evil";
  other.grant = "aaa";
  const Status bound = grants_.bind(other, kNow);
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code(), Errc::exists);
}

TEST(Grants, HoldsSoManyAndForgetsEndedOnesFirst) {
  Grants grants{2};
  frame::BindGrant bind = some_bind();
  const auto add = [&](const char* name) {
    bind.grant = name;
    return grants.bind(bind, kNow);
  };
  ASSERT_TRUE(add("a"));
  ASSERT_TRUE(add("b"));
  const Status third = add("c");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), Errc::exhausted);
  EXPECT_TRUE(add("b")) << "one that is there is replaced";
  static_cast<void>(grants.revoke({.sandbox = "abc", .grant = "a"}));
  EXPECT_TRUE(add("c"));
  EXPECT_EQ(grants.good(), 2U);
}

TEST(Secret, FillsEverySlotAndIsBounded) {
  const std::string value = "x{secret}y{secret}";
  const auto made = Secret::create(value, as_bytes("ab"));
  ASSERT_TRUE(made);
  EXPECT_EQ(as_text(made->value()), "xabyab");
  EXPECT_EQ(made->offset(), 1U);
  const std::string half(frame::kLongestHeaderValue / 2, 's');
  EXPECT_TRUE(Secret::create("{secret}{secret}", as_bytes(half)));
  EXPECT_FALSE(Secret::create("{secret}{secret}x", as_bytes(half)));
}

}  // namespace
}  // namespace cordon::broker
