// SPDX-License-Identifier: Apache-2.0
#include "node/kept_plan.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "policy/host.h"

namespace cordon::node {
namespace {

plan::Lowered some_plan() {
  plan::Lowered lowered;
  lowered.plan.id = "abcd2345";
  lowered.plan.namespaces = frame::kNamespaces;
  lowered.plan.root = frame::RootSource::directory;
  lowered.plan.root_path = "/srv/images/debian-12";
  lowered.plan.limits.memory = 1 << 20;
  lowered.enforcement.mechanisms = {{"memory", Hold::held, "1 MiB"}, {"io", Hold::absent, ""}};
  lowered.enforcement.reported = {"exec"};
  lowered.budgets.wall = std::chrono::seconds{300};
  lowered.budgets.output = 17;
  lowered.network = frame::Serve{.id = "abcd2345", .secret_scanning = true};
  lowered.ingress = {80, 65535};
  lowered.environment = {"PATH=/usr/bin", "EMPTY="};
  lowered.directory = "/workspace";
  return lowered;
}

void expect_same(const plan::Lowered& a, const plan::Lowered& b) {
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.enforcement, b.enforcement);
  EXPECT_EQ(a.budgets, b.budgets);
  EXPECT_EQ(a.network, b.network);
  EXPECT_EQ(a.ingress, b.ingress);
  EXPECT_EQ(a.environment, b.environment);
  EXPECT_EQ(a.directory, b.directory);
}

TEST(KeptPlan, ComesBackAsItWas) {
  for (const plan::Lowered& lowered : {some_plan(), plan::Lowered{}}) {
    const auto back = read_kept(kept_text(lowered, {}, {}));
    ASSERT_TRUE(back) << back.error().text();
    expect_same(back->lowered, lowered);
    EXPECT_TRUE(back->grants.empty());
  }
}

TEST(KeptPlan, OfEarlierDaemonsLacksWhatTheyDidNotKnow) {
  plan::Lowered lowered = some_plan();
  lowered.ingress.clear();
  std::string bytes = from_base64(kept_text(lowered, {}, {})).value_or(std::string{"?"});
  ASSERT_EQ(bytes.front(), '\4');
  for (const char version : {'\3', '\2', '\1'}) {
    bytes.front() = version;
    EXPECT_FALSE(read_kept(to_base64(bytes)));  // it had no list, not even an empty one
    bytes.resize(bytes.size() - sizeof(std::uint32_t));
    const auto back = read_kept(to_base64(bytes));
    ASSERT_TRUE(back) << back.error().text();
    expect_same(back->lowered, lowered);
  }
}

TEST(KeptPlan, ComesBackWithWhatItSaysOfFiles) {
  plan::Lowered lowered = some_plan();
  lowered.paths = {{.origin = 2,
                    .files = {{"p.toml", 2}},
                    .root = 2,
                    .root_name = "debian-12",
                    .mounts = {{"/data", "/data", 1, "why", {.line = 3}}},
                    .hide = {{".env", {.line = 4}}}}};
  const auto back = read_kept(kept_text(lowered, {}, {}));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->lowered.paths, lowered.paths);
}

HeldGrant some_grant() {
  return {policy::Grant{.name = "github",
                        .env = "GITHUB_TOKEN",
                        .from = "gh",
                        .host = *policy::parse_host_pattern("api.github.com"),
                        .header = "Authorization: Bearer {secret}",
                        .methods = {"GET"},
                        .paths = {"/repos/**"},
                        .ttl_seconds = 60},
          "cordon-placeholder-x"};
}

TEST(KeptPlan, ComesBackWithItsResponsesAndWhichWereTaken) {
  plan::Lowered lowered = some_plan();
  lowered.responses = {{.when = "denials",
                        .more_than = 3,
                        .within_seconds = 5,
                        .then = "freeze",
                        .rule = "own.toml:3",
                        .is_taken = true}};
  const auto back = read_kept(kept_text(lowered, {}, {}));
  ASSERT_TRUE(back);
  ASSERT_EQ(back->lowered.responses.size(), 1U);
  EXPECT_TRUE(back->lowered.responses.front().is_taken);
  EXPECT_TRUE(back->lowered.responses.front().is_like(lowered.responses.front()));
}

TEST(KeptPlan, ComesBackWithItsGrants) {
  const std::vector<HeldGrant> grants{some_grant(), some_grant()};
  const auto back = read_kept(kept_text(some_plan(), grants, {}));
  ASSERT_TRUE(back) << back.error().text();
  expect_same(back->lowered, some_plan());
  EXPECT_EQ(back->grants, grants);
}

TEST(KeptPlan, ComesBackWithItsPapersWhateverElseIsThere) {
  const Papers papers{.documents = {{.origin = 3, .policy = "{}"}}, .left_for = "1.2"};
  for (const std::vector<HeldGrant>& grants : {std::vector<HeldGrant>{}, {some_grant()}}) {
    for (const std::vector<Charge>& charges :
         {std::vector<Charge>{}, {{token::Quantity::sandboxes, 1, {}}}}) {
      const auto back = read_kept(kept_text(some_plan(), grants, charges, papers));
      ASSERT_TRUE(back) << back.error().text();
      expect_same(back->lowered, some_plan());
      EXPECT_EQ(back->grants, grants);
      EXPECT_EQ(back->charges, charges);
      EXPECT_EQ(back->papers, papers);
    }
  }
}

TEST(KeptPlan, ComesBackWithItsCharges) {
  const std::vector<Charge> charges{{token::Quantity::memory_bytes, 4096, {std::byte{7}}},
                                    {token::Quantity::sandboxes, 1, {}}};
  for (const std::vector<HeldGrant>& grants : {std::vector<HeldGrant>{}, {some_grant()}}) {
    const auto back = read_kept(kept_text(some_plan(), grants, charges));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->charges, charges);
    EXPECT_EQ(back->grants, grants);
  }
}

TEST(KeptPlan, ThatIsDamagedIsRefused) {
  const std::string text = kept_text(some_plan(), {}, {});
  EXPECT_FALSE(read_kept(text + "."));
  EXPECT_FALSE(read_kept(text + ".AAAA"));
  EXPECT_FALSE(read_kept(text + ".."));
  EXPECT_FALSE(read_kept(text + "...AAAA"));
  EXPECT_FALSE(read_kept(""));
  EXPECT_FALSE(read_kept("not base 64"));
  for (std::size_t length = 0; length < text.size(); length += 4) {
    EXPECT_FALSE(read_kept(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(read_kept(text + "AAAA"));
}

}  // namespace
}  // namespace cordon::node
