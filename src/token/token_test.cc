// SPDX-License-Identifier: Apache-2.0
// The text of a token: what it is made of, and that nothing else is one.
#include "token/token.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/golden_test.h"
#include "token/base64url.h"
#include "token/tokens_test.h"

namespace cordon::token {
namespace {

std::vector<Caveat> one_of_each() {
  return {TenantIs{"acme"},
          SandboxIn{{sandbox("aaaa"), sandbox("bbbb")}},
          OperationIn{set_of({Operation::file_read, Operation::file_write})},
          PathBelow{"/workspace/src"},
          PolicyCeiling{R"({"version":1,"network":{"egress_allowlist":["a.example"]}})"},
          BudgetOf{Quantity::sandboxes, 3},
          ExpiresAt{in_seconds(60)}};
}

// Computed by another program from docs/tokens.md (hmac and hashlib of Python): a change of the
// format breaks tokens that are in use.
TEST(Token, IsTheSameTextForEver) {
  const auto text = mint(key_of("node-a"), random_of(1),
                         {.caveats = {TenantIs{"acme"}, ExpiresAt{in_seconds(3600)}}});
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "cdn1_AQABBm5vZGUtYQECAwQFBgcICQoLDA0ODxACBQABYWNtZQkABxDgSWsAAAAAakGZgHLpMn8cU-_"
            "pc6bKUut9hyGqjcu8H5XrheQUIhc");
  const std::vector<Caveat> more = {OperationIn{set_of({Operation::file_read})},
                                    PathBelow{"/workspace"}};
  const auto narrower = attenuate(*text, more);
  ASSERT_TRUE(narrower);
  EXPECT_EQ(*narrower,
            "cdn1_"
            "AQABBm5vZGUtYQECAwQFBgcICQoLDA0ODxAEBQABYWNtZQkABxDgSWsAAAAACQADAAEAAAAAAAALAAQvd29ya3"
            "NwYWNlfkgzGLSg7hfy9BzydwpMP91mufBG7iUc-PgWzXfY2HA");
  EXPECT_EQ(to_hex(read(*narrower)->revocation), "ac89b2adde1c644d633fa009f3d855b4");
}

TEST(Token, KeepsEveryCaveatAsItWasWritten) {
  const auto text =
      mint(key_of("node-a", 7), random_of(9), {.is_operator = true, .caveats = one_of_each()});
  ASSERT_TRUE(text) << text.error().text();
  const auto contents = read(*text);
  ASSERT_TRUE(contents) << contents.error().text();
  EXPECT_EQ(contents->audience, "node-a");
  EXPECT_EQ(contents->key_number, 7);
  EXPECT_TRUE(contents->is_operator);
  EXPECT_EQ(contents->caveats, one_of_each());
}

TEST(Token, IsTheSameWhetherCaveatsComeAtOnceOrOneByOne) {
  const auto at_once =
      mint(key_of("node-a"), random_of(1), {.is_operator = true, .caveats = one_of_each()});
  std::string step_by_step = *mint(key_of("node-a"), random_of(1), {.is_operator = true});
  for (const Caveat& caveat : one_of_each())
    step_by_step = *attenuate(step_by_step, std::span{&caveat, 1});
  EXPECT_EQ(*at_once, step_by_step);
}

TEST(Token, NeedsATenantAndAnExpiryUnlessItIsAnOperators) {
  const AudienceKey key = key_of("node-a");
  EXPECT_FALSE(mint(key, random_of(1), {.caveats = {ExpiresAt{in_seconds(60)}}}));
  EXPECT_FALSE(mint(key, random_of(1), {.caveats = {TenantIs{"acme"}}}));
  EXPECT_TRUE(mint(key, random_of(1), {.is_operator = true}));
}

TEST(Token, HasAtMost32CaveatsAnd8Kibibytes) {
  std::string text = token_with();
  const std::vector<Caveat> thirty(30, BudgetOf{Quantity::processes, 1});
  const std::vector<Caveat> one(1, BudgetOf{Quantity::processes, 1});
  text = *attenuate(text, thirty);
  EXPECT_TRUE(read(text));
  EXPECT_EQ(attenuate(text, one).error().code(), Errc::exhausted);
  const std::string ceiling = R"({"version":1})" + std::string(4000, ' ');
  const std::vector<Caveat> two(2, PolicyCeiling{ceiling});
  EXPECT_EQ(attenuate(token_with(), two).error().code(), Errc::exhausted);
  EXPECT_TRUE(attenuate(token_with(), std::span{two}.first(1)));
}

TEST(Token, RefusesCaveatsThatAreNotWithinTheirBounds) {
  const std::string text = token_with();
  const std::vector<Caveat> bad = {
      TenantIs{""},
      TenantIs{"Acme"},
      TenantIs{"-a"},
      TenantIs{"\xd0\xb0"
               "cme"},  // a letter that only looks like one
      TenantIs{std::string(65, 'a')},
      TenantIs{std::string{"a\0b", 3}},
      PathBelow{""},
      PathBelow{"workspace"},
      PathBelow{"/a/../b"},
      PathBelow{"/a/./b"},
      PathBelow{"/a//b"},
      PathBelow{"/a/"},
      PathBelow{"/a\nb"},
      PathBelow{"/\xff"},
      PathBelow{"/" + std::string(1024, 'a')},
      PolicyCeiling{""},
      PolicyCeiling{"version = 1"},
      PolicyCeiling{R"({"version":1,"netwrk":{}})"},
      PolicyCeiling{
          R"({"version":1,"filesystem":{"host_mounts":[{"source":"/etc","target":"/x"}]}})"},
      PolicyCeiling{R"({"version":1})" + std::string(4096, ' ')},
      ExpiresAt{std::chrono::sys_seconds{std::chrono::seconds{-1}}},
      ExpiresAt{kLastTime + std::chrono::seconds{1}},
      ExpiresAt{std::chrono::sys_seconds::max()},
  };
  for (std::size_t i = 0; i < bad.size(); ++i)
    EXPECT_FALSE(attenuate(text, std::span{&bad[i], 1})) << i;
  std::set<SandboxId> many;
  for (char a = 'a'; a <= 'z'; ++a)
    for (const char b : {'a', 'b', 'c'}) many.insert(sandbox({a, b}));
  const Caveat too_many = SandboxIn{many};
  EXPECT_FALSE(attenuate(text, std::span{&too_many, 1}));
}

TEST(Token, IsReadInOneSpellingOnly) {
  const std::string text = token_with();
  EXPECT_TRUE(read(text));
  EXPECT_FALSE(read(text + "="));
  EXPECT_FALSE(read(text + "A"));
  EXPECT_FALSE(read(" " + text));
  EXPECT_FALSE(read(text + "\n"));
  EXPECT_FALSE(read("cdn2_" + text.substr(5)));
  EXPECT_FALSE(read("CDN1_" + text.substr(5)));
  EXPECT_FALSE(read(text.substr(5)));
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("cdn1_"));
  EXPECT_FALSE(read("cdn1_" + std::string(10000, 'A')));
  std::string plus = text;
  std::ranges::replace(plus, '-', '+');
  std::ranges::replace(plus, '_', '/');
  EXPECT_FALSE(read(plus));
}

TEST(Token, RefusesBitsBehindTheLastByte) {
  // Of 1, 2 and 3 bytes: the last character has 4, 2 and 0 bits that mean nothing.
  EXPECT_TRUE(from_base64url("AA"));
  EXPECT_FALSE(from_base64url("AB"));
  EXPECT_FALSE(from_base64url("AP"));
  EXPECT_TRUE(from_base64url("AAA"));
  EXPECT_FALSE(from_base64url("AAB"));
  EXPECT_FALSE(from_base64url("AAD"));
  EXPECT_TRUE(from_base64url("AAAB"));
  EXPECT_FALSE(from_base64url("A"));
  EXPECT_FALSE(from_base64url("AAAAA"));
  for (const std::string_view text : {"-_8", "", "AAAA", "_w", "aZ09"}) {
    const auto bytes = from_base64url(text);
    ASSERT_TRUE(bytes) << text;
    EXPECT_EQ(to_base64url(*bytes), text);
  }
}

TEST(Token, KeysOfTwoAudiencesHaveNothingInCommon) {
  const RootKey root{secret_from(1)};
  EXPECT_EQ(to_hex(root.derive("node-a")->secret().bytes()),
            to_hex(root.derive("node-a")->secret().bytes()));
  EXPECT_NE(to_hex(root.derive("node-a")->secret().bytes()),
            to_hex(root.derive("node-b")->secret().bytes()));
  for (const std::string_view bad : {"", "Node", "a_b", "-a", "a b", "\xc3\xa9"})
    EXPECT_FALSE(root.derive(bad)) << bad;
  EXPECT_FALSE(root.derive(std::string(33, 'a')));
}

TEST(Token, NamesOfOperationsAndQuantitiesLeadBackToThem) {
  for (const OperationRow& row : all_operations())
    EXPECT_EQ(operation_from(row.name), row.operation);
  for (const QuantityRow& row : all_quantities()) EXPECT_EQ(quantity_from(row.name), row.quantity);
  EXPECT_FALSE(operation_from("file"));
  EXPECT_FALSE(OperationSet::from_bits(std::uint64_t{1} << all_operations().size()));
}

// What is granted is read there.
TEST(Token, EveryOperationAndQuantityIsInTheDocs) {
  const std::string page = read_source("docs/tokens.md");
  for (const OperationRow& row : all_operations()) {
    const std::string line = "| `" + std::string{row.name} + "` | " + std::string{row.meaning} +
                             " | " + (row.reach == Reach::node ? "node" : "tenant") + " |\n";
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
  for (const QuantityRow& row : all_quantities()) {
    const std::string line =
        "| `" + std::string{row.name} + "` | " + std::string{row.meaning} + " |\n";
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace cordon::token
