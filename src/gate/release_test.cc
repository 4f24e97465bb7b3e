// SPDX-License-Identifier: Apache-2.0
#include "gate/release.h"

#include <limits>

#include <gtest/gtest.h>

#include "policy/parse.h"

namespace cordon::gate {
namespace {

// Everything that is wrong, as one text; empty: it was taken.
std::string wrong(std::string_view text) {
  policy::Problems problems{"release 7"};
  const auto release = read_release(text, "release 7", problems);
  if (release) return {};
  std::string all = release.error().text() + "\n";
  for (const auto& problem : problems.all()) all += to_string(problem) + "\n";
  return all;
}

Release read(std::string_view text) {
  policy::Problems problems{"release 7"};
  auto release = read_release(text, "release 7", problems);
  EXPECT_TRUE(release) << wrong(text);
  return release ? *std::move(release) : Release{};
}

constexpr std::string_view kWhole = R"(
[ceiling.network]
egress_allowlist = ["pypi.org:443"]
[ceiling.resources]
memory_limit = "1Gi"
[quota]
sandboxes = 50
[tenants.acme]
sandboxes = 500
memory = "4Gi"
[tenants.acme.ceiling.network]
mode = "none"
)";

policy::Policy asked() {
  auto document =
      policy::parse("[network]\negress_allowlist = [\"pypi.org:443\", \"evil.example:443\"]\n",
                    "request", policy::Syntax::toml);
  EXPECT_TRUE(document);
  auto checked = policy::check(*std::move(document), policy::Origin::request, {});
  EXPECT_TRUE(checked);
  return *std::move(checked);
}

bool reaches(const policy::Policy& policy, std::string_view host) {
  return policy.decide(policy::NetQuery{.host = host}).allowed();
}

TEST(Release, NarrowsWhatIsAskedAndGivesNothing) {
  const Release release = read(kWhole);
  const policy::Policy all = asked();
  ASSERT_TRUE(reaches(all, "evil.example"));  // the counter-arm
  const policy::Policy narrow = release.narrowed(all, "other");
  EXPECT_TRUE(reaches(narrow, "pypi.org"));
  EXPECT_FALSE(reaches(narrow, "evil.example"));
  EXPECT_EQ(narrow.settings().limits.memory, std::uint64_t{1} << 30U);
  // A tenant's own ceiling lies under that of all.
  EXPECT_FALSE(reaches(release.narrowed(all, "acme"), "pypi.org"));
}

TEST(Release, BoundsATenantByItsOwnTableOrByThatOfAll) {
  const Release release = read(kWhole);
  EXPECT_EQ(release.quota_of("other").sandboxes, 50U);
  EXPECT_EQ(release.quota_of("acme").sandboxes, 500U);
  // Where nothing is said nothing is bounded, also not by the default of a node's settings.
  EXPECT_EQ(release.quota_of("other").requests, std::numeric_limits<std::uint64_t>::max());
  const Quota least = lesser({.sandboxes = 7, .requests = 9}, release.quota_of("acme"));
  EXPECT_EQ(least, (Quota{.sandboxes = 7, .memory = std::uint64_t{4} << 30U, .requests = 9}));
}

TEST(Release, MayBeWrittenAsJson) {
  EXPECT_EQ(read(R"({"quota":{"sandboxes":3}})").quota.sandboxes, 3U);
}

struct BadRow {
  std::string_view text;
  std::string_view said;
};
constexpr BadRow kBad[] = {
    {"", "it says nothing"},
    {"[ceiling\n", "release 7:1"},
    {"\xff\xfe", "release 7"},
    {"[celing]\n", "did you mean `ceiling`"},
    {"[ceiling.netwrok]\n", "did you mean"},
    {"ceiling = \"/etc/cordon/ceiling.toml\"\n", "a release names no files"},
    {"[quota]\nsandboxes = -1\n", "sandboxes"},
    {"[quota]\nsandboxes = \"many\"\n", "sandboxes"},
    {"[tenants.acme]\nceiling = \"x.toml\"\n", "a release names no files"},
    {"[tenants.\"../x\"]\nsandboxes = 1\n", "no name of a tenant"},
    {"[ceiling.process]\ncapabilities = [\"CAP_NET_RAW\"]\n", "capabilities"},
    {"name = \"node-1-2\"\n", "name"},
};

TEST(Release, IsRefusedInWordsWhereItIsNone) {
  for (const BadRow& row : kBad) {
    EXPECT_NE(wrong(row.text).find(row.said), std::string::npos) << row.text << wrong(row.text);
  }
  const std::string large = "[quota]\nsandboxes = 1\n#" + std::string(kLargestRelease, 'x');
  EXPECT_NE(wrong(large).find("at most 262144"), std::string::npos);
  // The same without the comment is one.
  EXPECT_EQ(wrong(large.substr(0, large.find('#'))), "");
}

}  // namespace
}  // namespace cordon::gate
