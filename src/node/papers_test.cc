// SPDX-License-Identifier: Apache-2.0
#include "node/papers.h"

#include <gtest/gtest.h>

#include "policy/checked.h"
#include "policy/parse.h"

namespace cordon::node {
namespace {

policy::Policy checked(std::string_view text, policy::Origin origin) {
  auto document = policy::parse(text, "test", policy::Syntax::toml);
  EXPECT_TRUE(document) << document.error().text();
  auto policy = policy::check(*std::move(document), origin, {});
  EXPECT_TRUE(policy) << policy.error().text();
  return *std::move(policy);
}

Result<policy::Policy> back_from(const std::vector<Paper>& papers) {
  policy::Problems problems{"test"};
  return policy_of(papers, problems, [](policy::PolicyDocument&) {});
}

const policy::Policy& narrowed() {
  static const policy::Policy policy = policy::attenuate(
      checked("network.egress_allowlist = [\"a.example:443\", "
              "\"b.example:443\"]\nresources.memory_limit = \"1Gi\"\n",
              policy::Origin::request),
      checked("network.egress_allowlist = [\"a.example:443\"]\nresources.memory_limit = \"512Mi\"",
              policy::Origin::site));
  return policy;
}

TEST(Papers, SayThePolicyAgainAsItWas) {
  const auto back = back_from(papers_of(narrowed()));
  ASSERT_TRUE(back) << back.error().text();
  ASSERT_EQ(back->documents().size(), narrowed().documents().size());
  for (std::size_t at = 0; at < back->documents().size(); ++at) {
    EXPECT_EQ(back->documents()[at]->origin(), narrowed().documents()[at]->origin());
  }
  EXPECT_TRUE(back->decide(policy::NetQuery{.host = "a.example", .port = 443}).allowed());
  EXPECT_FALSE(back->decide(policy::NetQuery{.host = "b.example", .port = 443}).allowed());
  EXPECT_EQ(back->settings().limits.memory, narrowed().settings().limits.memory);
}

TEST(Papers, SayEachDocumentOnceHoweverOftenItIsMoved) {
  const auto back = back_from(papers_of(narrowed()));
  ASSERT_TRUE(back);
  const policy::Policy again = policy::attenuate(*back, narrowed());
  EXPECT_EQ(papers_of(again).size(), papers_of(narrowed()).size());
}

// As a node puts its ceilings above what is asked for.
TEST(Papers, BeginWithTheRequestWhateverBoundsIt) {
  const policy::Policy policy = policy::attenuate(
      checked("resources.memory_limit = \"8Gi\"", policy::Origin::site),
      checked("network.egress_allowlist = [\"a.example:443\"]", policy::Origin::request));
  const std::vector<Paper> papers = papers_of(policy);
  ASSERT_EQ(papers.size(), 2U);
  EXPECT_EQ(papers.front().origin, static_cast<std::uint8_t>(policy::Origin::request));
  policy::Problems problems{"test"};
  const auto back = policy_of(papers, problems, [](policy::PolicyDocument& first) {
    first.resources.memory = policy::Stated<std::uint64_t>{std::uint64_t{1} << 29U, {}};
  });
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->settings().limits.memory, std::uint64_t{1} << 29U) << "what it was given before";
  std::vector<Paper> turned{papers.back(), papers.front()};
  EXPECT_FALSE(back_from(turned)) << "a ceiling in place of a request";
}

TEST(Papers, GrantNoMoreThanARequestWhoeverSaysThem) {
  const policy::Policy mounts =
      checked("filesystem.host_mounts = [{ source = \"/etc\", target = \"/x\", why = \"w\" }]",
              policy::Origin::site);
  EXPECT_TRUE(papers_of(mounts).empty()) << "without a request there is nothing to make";
  EXPECT_FALSE(back_from({{.origin = static_cast<std::uint8_t>(policy::Origin::request),
                           .policy = mounts.documents().front()->document().written.json}}));
  EXPECT_FALSE(back_from({}));
  EXPECT_FALSE(back_from({{.origin = 99, .policy = "{}"}}));
}

TEST(Papers, AreNoneWhereADocumentWasNotParsed) {
  policy::PolicyDocument silent;
  silent.sources.push_back({.name = "test", .origin = policy::Origin::site});
  const auto policy = policy::check(std::move(silent), policy::Origin::site, {});
  ASSERT_TRUE(policy);
  EXPECT_TRUE(papers_of(*policy).empty());
}

TEST(Papers, ComeBackAsTheyWereWritten) {
  const Traveller traveller{.id = "abcd2345",
                            .tenant = "acme",
                            .created = 17,
                            .expires = 18,
                            .labels = "{}",
                            .papers = {.documents = {{.origin = 3, .policy = "{}"}},
                                       .narrowings = {"{}"},
                                       .spent = {1, 2, 3},
                                       .services = "s",
                                       .traffic = "t",
                                       .arrived = "m"},
                            .grants = "g",
                            .responses = {{.when = "denials", .then = "kill", .is_taken = true}},
                            .standby = {{.arguments = {"x"}}}};
  const auto back = read_traveller(traveller_text(traveller));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, traveller);
  std::string text = traveller_text(traveller);
  text.resize(text.size() - 4);
  EXPECT_FALSE(read_traveller(text));
  EXPECT_FALSE(read_traveller(""));
}

}  // namespace
}  // namespace cordon::node
