// SPDX-License-Identifier: Apache-2.0
#include "policy/parse.h"

#include <set>

#include <gtest/gtest.h>

#include "policy/policy.h"
#include "policy/presets.h"

namespace cordon::policy {
namespace {

TEST(Presets, EachParsesAndIsAPolicy) {
  ASSERT_EQ(all_presets().size(), 9U);
  for (const Preset& preset : all_presets()) {
    const auto document = parse(preset.text, std::string{preset.name}, Syntax::toml);
    ASSERT_TRUE(document) << document.error().text();
    const auto policy = check(*document, Origin::builtin, {});
    EXPECT_TRUE(policy) << policy.error().text();
  }
}

// Registries are symbols (@npm): where a package comes from is the user's configuration, not ours.
TEST(Presets, NameNoHostsButTheModelsAndTheForge) {
  const std::set<std::string> known = {"github.com", "raw.githubusercontent.com",
                                       "api.anthropic.com", "api.openai.com",
                                       "generativelanguage.googleapis.com"};
  for (const Preset& preset : all_presets()) {
    const auto document = parse(preset.text, std::string{preset.name}, Syntax::toml);
    ASSERT_TRUE(document);
    for (const EgressRule& rule : document->network.egress_allowlist.items) {
      EXPECT_TRUE(!rule.registry.empty() || known.contains(rule.host.name))
          << preset.name << ": " << rule.host.name;
    }
  }
}

}  // namespace
}  // namespace cordon::policy
