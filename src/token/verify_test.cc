// SPDX-License-Identifier: Apache-2.0
// What is not exactly a token that was minted for this node, or derived from one, is refused.
#include "token/verify.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "token/base64url.h"
#include "token/layout.h"
#include "token/tokens_test.h"

namespace cordon::token {
namespace {

constexpr unsigned kAllMacs = kMostCaveats + 1;

std::string rich_token() {
  return token_with({OperationIn{set_of({Operation::file_read})}, PathBelow{"/workspace"},
                     SandboxIn{{sandbox("aaaa")}}, BudgetOf{Quantity::processes, 9}});
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = token_bytes(text);
  return {bytes->begin(), bytes->end()};
}
std::string text_of(const std::vector<std::byte>& bytes) {
  return std::string{kTokenPrefix} + to_base64url(bytes);
}

// A token put together from parts, whose tag may be that of another.
struct Parts {
  std::vector<std::byte> header;
  std::vector<std::vector<std::byte>> caveats;
  Digest tag{};
};
Parts parts_of(const std::string& text) {
  const auto bytes = token_bytes(text);
  const auto layout = read_layout(*bytes);
  Parts parts{.header = {layout->header_bytes.begin(), layout->header_bytes.end()}};
  for (const Bytes each : layout->caveats()) parts.caveats.emplace_back(each.begin(), each.end());
  std::ranges::copy(layout->tag, parts.tag.begin());
  return parts;
}
std::string joined(const Parts& parts) {
  const std::vector<Bytes> views{parts.caveats.begin(), parts.caveats.end()};
  return *write_token(parts.header, views, Secret{parts.tag});
}

void expect_refused(const std::string& text, Fault fault) {
  const Tried tried = try_at_node(text);
  ASSERT_FALSE(tried.authority) << text;
  EXPECT_EQ(tried.authority.error().text(), "unauthenticated");
  EXPECT_EQ(tried.authority.error().code(), Errc::denied);
  EXPECT_EQ(tried.refused.fault, fault) << to_string(tried.refused.fault);
  EXPECT_EQ(tried.refused.macs, kAllMacs);
}

TEST(Verify, TakesWhatWasMintedAndWhatWasDerivedFromIt) {
  EXPECT_TRUE(try_at_node(token_with()).authority);
  EXPECT_TRUE(try_at_node(rich_token()).authority);
  EXPECT_TRUE(try_at_node(token_with({}, true)).authority);
  EXPECT_EQ(joined(parts_of(rich_token())), rich_token());
}

// C201, C309
TEST(Verify, RefusesEveryFlippedBit) {
  const std::vector<std::byte> good = bytes_of(rich_token());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::vector<std::byte> bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const Tried tried = try_at_node(text_of(bad));
    ASSERT_FALSE(tried.authority) << bit;
    EXPECT_EQ(tried.authority.error().text(), "unauthenticated");
    EXPECT_EQ(tried.refused.macs, kAllMacs) << bit;
  }
}

TEST(Verify, RefusesEveryTruncationAndEveryOtherCharacter) {
  const std::string good = rich_token();
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(try_at_node(good.substr(0, length)).authority) << length;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char c : std::string_view{"Aa_-=+/ \n\0\xff", 11}) {
      if (good[at] == c) continue;
      std::string bad = good;
      bad[at] = c;
      EXPECT_FALSE(try_at_node(bad).authority) << at;
    }
  }
  const std::vector<std::byte> bytes = bytes_of(good);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    expect_refused(text_of({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}),
                   Fault::malformed);
  }
}

TEST(Verify, RefusesCaveatsLeftOutDoubledOrInAnotherOrder) {
  const Parts good = parts_of(rich_token());
  for (std::size_t i = 0; i < good.caveats.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    Parts without = good;
    without.caveats.erase(without.caveats.begin() + at);
    expect_refused(joined(without), Fault::tag);
    Parts twice = good;
    twice.caveats.insert(twice.caveats.begin() + at, good.caveats[i]);
    expect_refused(joined(twice), Fault::tag);
    Parts first = good;
    first.caveats.resize(i);
    expect_refused(joined(first), Fault::tag);
    if (i == 0) continue;
    Parts swapped = good;
    std::swap(swapped.caveats[i], swapped.caveats[i - 1]);
    expect_refused(joined(swapped), Fault::tag);
  }
}

TEST(Verify, RefusesTwoTokensSpliced) {
  const Parts one = parts_of(rich_token());
  const auto other_text = mint(key_of("node-a"), random_of(77),
                               {.caveats = {TenantIs{"other"}, ExpiresAt{in_seconds(99)},
                                            PathBelow{"/tmp"}, OperationIn{OperationSet::all()},
                                            SandboxIn{}, BudgetOf{Quantity::sandboxes, 1}}});
  const Parts other = parts_of(*other_text);
  ASSERT_EQ(one.caveats.size(), other.caveats.size());
  expect_refused(joined({one.header, one.caveats, other.tag}), Fault::tag);
  expect_refused(joined({one.header, other.caveats, one.tag}), Fault::tag);
  expect_refused(joined({other.header, one.caveats, one.tag}), Fault::tag);
  for (std::size_t i = 0; i < one.caveats.size(); ++i) {
    Parts mixed = one;
    mixed.caveats[i] = other.caveats[i];
    expect_refused(joined(mixed), Fault::tag);
  }
}

// Adding a flag, the operator's above all, is a change of the header.
TEST(Verify, RefusesATokenThatCallsItselfAnOperators) {
  Parts parts = parts_of(token_with());
  parts.header[1] = std::byte{1};
  expect_refused(joined(parts), Fault::tag);
  parts.header[1] = std::byte{2};
  expect_refused(joined(parts), Fault::malformed);
}

// C271, C315
TEST(Verify, RefusesTokensOfAnotherAudienceNumberOrRoot) {
  const Minted minted{.caveats = {TenantIs{"acme"}, ExpiresAt{in_seconds(60)}}};
  expect_refused(*mint(key_of("node-b"), random_of(1), minted), Fault::audience);
  expect_refused(*mint(key_of("node-a", 2), random_of(1), minted), Fault::key);
  expect_refused(*mint(key_of("node-a", 1, 6), random_of(1), minted), Fault::tag);
  Parts renamed = parts_of(*mint(key_of("node-b"), random_of(1), minted));
  renamed.header = parts_of(token_with()).header;
  expect_refused(joined(renamed), Fault::tag);
}

// A token under the key that stands in for a missing one costs as much as any other.
TEST(Verify, RefusesATokenMadeUnderTheKeyOfZeros) {
  const AudienceKey zeros{"nowhere", 1, Secret{Digest{}}};
  expect_refused(*mint(zeros, random_of(1), {.is_operator = true}), Fault::audience);
}

TEST(Verify, TakesOldAndNewKeysWhileTheyChange) {
  std::vector<AudienceKey> keys;
  keys.push_back(key_of("node-a", 1, 5));
  keys.push_back(key_of("node-a", 2, 9));
  const Verifier verifier{.keys = keys, .now = kNow, .is_revoked = {}};
  for (const AudienceKey& key : keys) {
    const auto text = mint(key, random_of(1), {.is_operator = true});
    EXPECT_TRUE(verify(*text, verifier));
    EXPECT_FALSE(verify(*text, {.keys = {}, .now = kNow, .is_revoked = {}}));
  }
}

TEST(Verify, RefusesFromTheSecondOfTheEarliestExpiryOn) {
  const std::string text =
      token_with({ExpiresAt{in_seconds(10)}, ExpiresAt{in_seconds(20)}, ExpiresAt{kLastTime}});
  EXPECT_TRUE(try_at_node(text, in_seconds(9)).authority);
  EXPECT_EQ(try_at_node(text, in_seconds(10)).refused.fault, Fault::expired);
  EXPECT_FALSE(try_at_node(text, in_seconds(11)).authority);
  EXPECT_FALSE(try_at_node(text, std::chrono::sys_seconds::max()).authority);
  const std::string at_once = token_with({ExpiresAt{std::chrono::sys_seconds{}}});
  EXPECT_FALSE(try_at_node(at_once).authority);
}

TEST(Verify, RefusesATokenOfTwoTenants) {
  EXPECT_EQ(try_at_node(token_with({TenantIs{"other"}})).refused.fault, Fault::nobody);
  EXPECT_EQ(try_at_node(token_with({TenantIs{"other"}, TenantIs{"acme"}})).refused.fault,
            Fault::nobody);
  EXPECT_TRUE(try_at_node(token_with({TenantIs{"acme"}})).authority);
}

// Anyone who holds a token can add any bytes as a caveat.
TEST(Verify, RefusesCaveatsItDoesNotUnderstand) {
  const std::vector<std::vector<unsigned>> bodies = {
      {},
      {0},
      {8},
      {255},
      {1},  // a tenant without a name
      {1, 'A'},
      {2},                            // no count
      {2, 1},                         // fewer sandboxes than it says
      {2, 1, 1, 'a', 0},              // more
      {2, 2, 1, 'b', 1, 'a'},         // in another order
      {2, 2, 1, 'a', 1, 'a'},         // one twice
      {2, 1, 1, '1'},                 // no id
      {3, 1, 0, 0, 0, 0, 0, 0},       // too short
      {3, 0, 0, 0, 0, 0, 0, 0, 128},  // no such operation
      {4, 'a'},
      {4, '/', '.', '.'},
      {5, 'x'},
      {6, 7, 1, 0, 0, 0, 0, 0, 0, 0},     // no such quantity
      {6, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0},  // a byte too many
      {7, 255, 255, 255, 255, 255, 255, 255, 255},
      {7, 0, 0, 0, 0, 0, 0, 0, 128},
  };
  for (const auto& body : bodies) {
    Parts parts = parts_of(token_with());
    std::vector<std::byte> caveat;
    caveat.reserve(body.size());
    for (const unsigned each : body) caveat.push_back(static_cast<std::byte>(each));
    const Secret tag = next_tag(Secret{parts.tag}, caveat);
    std::ranges::copy(tag.bytes(), parts.tag.begin());
    parts.caveats.push_back(caveat);
    const Tried tried = try_at_node(joined(parts));
    EXPECT_FALSE(tried.authority);
    EXPECT_EQ(tried.refused.fault, Fault::caveat) << ::testing::PrintToString(body);
  }
}

TEST(Verify, ARevocationEndsTheTokenAndAllDerivedFromItAndNoOther) {
  const std::string grandparent = token_with();
  const Caveat processes = BudgetOf{Quantity::processes, 5};
  const Caveat paths = PathBelow{"/workspace"};
  const std::string parent = *attenuate(grandparent, std::span{&processes, 1});
  const std::string child = *attenuate(parent, std::span{&paths, 1});
  const std::string sibling = *attenuate(grandparent, std::span{&paths, 1});
  const RevocationId revoked = read(parent)->revocation;
  const auto is_revoked = [&](const RevocationId& id) { return id == revoked; };
  EXPECT_TRUE(try_at_node(grandparent, kNow, is_revoked).authority);
  EXPECT_TRUE(try_at_node(sibling, kNow, is_revoked).authority);
  EXPECT_EQ(try_at_node(parent, kNow, is_revoked).refused.fault, Fault::revoked);
  EXPECT_EQ(try_at_node(child, kNow, is_revoked).refused.fault, Fault::revoked);
}

TEST(Verify, GivesTheIdsOfAllThatATokenWasDerivedFrom) {
  const std::string parent = token_with();
  const Caveat paths = PathBelow{"/workspace"};
  const std::string child = *attenuate(parent, std::span{&paths, 1});
  const auto authority = try_at_node(child).authority;
  ASSERT_TRUE(authority);
  ASSERT_EQ(authority->revocations().size(), 4U);  // bare, tenant, expiry, path
  EXPECT_EQ(authority->revocations()[2], read(parent)->revocation);
  EXPECT_EQ(authority->revocations()[3], read(child)->revocation);
}

TEST(Verify, TellsTheLogWhyAndNothingOfTheToken) {
  for (const Fault fault : {Fault::malformed, Fault::audience, Fault::key, Fault::tag,
                            Fault::caveat, Fault::expired, Fault::revoked, Fault::nobody}) {
    EXPECT_NE(to_string(fault), "refused");
  }
}

}  // namespace
}  // namespace cordon::token
