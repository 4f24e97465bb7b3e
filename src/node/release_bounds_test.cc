// SPDX-License-Identifier: Apache-2.0
#include "node/release_bounds.h"

#include <gtest/gtest.h>

#include "policy/parse.h"

namespace cordon::node {
namespace {

gate::Release release(const std::string& text) {
  policy::Problems problems{"release"};
  auto read = gate::read_release(text, "release", problems);
  EXPECT_TRUE(read) << (problems.empty() ? read.error().text() : problems.to_error().text());
  return read ? *std::move(read) : gate::Release{};
}

policy::Policy own(const std::string& text) {
  auto document = policy::parse(text, "own.toml", policy::Syntax::toml);
  EXPECT_TRUE(document);
  auto checked = policy::check(*std::move(document), policy::Origin::site, {});
  EXPECT_TRUE(checked);
  return *std::move(checked);
}

std::string said(const Status& status) { return status ? std::string{} : status.error().text(); }

TEST(ReleaseBounds, ANumberMayNotBeMoreThanTheNodesOwn) {
  Settings settings;
  settings.quota.sandboxes = 100;
  settings.tenants["acme"].quota.sandboxes = 1000;
  EXPECT_EQ(said(within_own_quotas(release("[quota]\nsandboxes = 100\n"), settings)), "");
  EXPECT_NE(said(within_own_quotas(release("[quota]\nsandboxes = 101\n"), settings))
                .find("quota.sandboxes = 101 is more than this node's own settings allow, 100"),
            std::string::npos);
  EXPECT_EQ(said(within_own_quotas(release("[tenants.acme]\nsandboxes = 1000\n"), settings)), "");
  EXPECT_NE(said(within_own_quotas(release("[tenants.acme]\nsandboxes = 1001\n"), settings)), "");
  // Of a tenant that the node does not name, what it gives to anybody.
  EXPECT_NE(said(within_own_quotas(release("[tenants.other]\nsandboxes = 101\n"), settings)), "");
  // What the node does not bound anything is less than.
  EXPECT_EQ(said(within_own_quotas(release("[quota]\nmemory = \"1Ti\"\n"), settings)), "");
}

struct CeilingRow {
  std::string released;
  std::string said;  // empty: it may be
};
const CeilingRow kCeilings[] = {
    {"[ceiling.resources]\nmemory_limit = \"1Gi\"\n", ""},
    {"[ceiling.resources]\nmemory_limit = \"3Gi\"\n", "ceiling.resources.memory_limit"},
    // The default of a policy is nobody's word.
    {"[ceiling.network]\negress_allowlist = [\"pypi.org:443\"]\n", ""},
    {"[ceiling.network]\negress_allowlist = [\"evil.example:443\"]\n", "evil.example:443"},
    {"[ceiling.network]\nmode = \"public\"\n", "network.mode = public"},
    {"[ceiling]\nisolation = \"process\"\n", "a weaker wall"},
    {"[ceiling]\nisolation = \"microvm\"\n", ""},
};

TEST(ReleaseBounds, ACeilingMayNotAllowWhatTheNodesOwnDoesNot) {
  const policy::Policy bound =
      own("isolation = \"gvisor\"\n[resources]\nmemory_limit = \"2Gi\"\npids_limit = 100\n"
          "[network]\negress_allowlist = [\"pypi.org:443\"]\n");
  for (const CeilingRow& row : kCeilings) {
    const gate::Release read = release(row.released);
    if (!read.ceiling) {
      ADD_FAILURE() << row.released;
      continue;
    }
    const std::string words = said(within_own_ceiling(*read.ceiling, bound, ""));
    if (row.said.empty()) {
      EXPECT_EQ(words, "") << row.released;
    } else {
      EXPECT_NE(words.find(row.said), std::string::npos) << row.released << words;
    }
  }
}

}  // namespace
}  // namespace cordon::node
