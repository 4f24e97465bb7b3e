// SPDX-License-Identifier: Apache-2.0
#include "record/host_facts_text.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

HostFacts some_facts() {
  HostFacts facts{.kernel = "6.18.44", .machine = "x86_64", .system = "Debian", .root = true};
  facts.landlock_abi = 7;
  facts.cgroup_layout = CgroupLayout::hybrid;
  facts.controllers = {"memory", "pids"};
  facts.gvisor_platform = "ptrace";
  facts.gvisor_traces = true;
  facts.machine_traces = true;
  facts[Feature::landlock] = {Support::ok, "ABI 7", ""};
  facts[Feature::kvm] = {Support::blocked, "no rights", "usermod -aG kvm"};
  return facts;
}

TEST(HostFactsText, ComesBackAsItWas) {
  for (const HostFacts& facts : {some_facts(), HostFacts{}}) {
    const auto back = host_facts_from(to_text(facts));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, facts);
  }
}

TEST(HostFactsText, OfAStrangeDetailStaysOneLine) {
  HostFacts facts = some_facts();
  facts[Feature::kvm].detail = "a\nb\tc";
  const auto back = host_facts_from(to_text(facts));
  ASSERT_TRUE(back);
  EXPECT_EQ((*back)[Feature::kvm].detail, "a b c");
}

TEST(HostFactsText, ThatIsCutIsNone) {
  const std::string text = to_text(some_facts());
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    if (text[length] != '\n') continue;  // whole lines are missing
    EXPECT_FALSE(host_facts_from(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(host_facts_from("cordon host facts 1" + text.substr(19)));
}

}  // namespace
}  // namespace cordon
