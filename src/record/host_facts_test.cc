// SPDX-License-Identifier: Apache-2.0
#include "record/host_facts.h"

#include <gtest/gtest.h>

namespace cordon {
namespace {

HostFacts perfect() {
  HostFacts host;
  for (Fact& fact : host.facts) fact.support = Support::ok;
  return host;
}

TEST(Level, IsNoneForAHostThatWasNotProbed) { EXPECT_EQ(level_of(HostFacts{}).level, Level::none); }

TEST(Level, IsFullOnlyWithEveryFence) { EXPECT_EQ(level_of(perfect()).level, Level::full); }

TEST(Level, FallsToSupervisedWithoutCgroupsOrLandlock) {
  for (const Feature feature : {Feature::cgroup, Feature::landlock}) {
    for (const Support support :
         {Support::not_probed, Support::limited, Support::blocked, Support::absent}) {
      HostFacts host = perfect();
      host[feature].support = support;
      EXPECT_EQ(level_of(host).level, Level::supervised) << to_string(feature);
      EXPECT_EQ(level_of(host).missing, std::vector{feature});
    }
  }
}

TEST(Level, FallsToNoneWithoutAnyFenceThatALaunchNeeds) {
  for (const Feature feature : {Feature::user_namespaces, Feature::namespaces, Feature::mount_api,
                                Feature::seccomp, Feature::pidfd, Feature::openat2}) {
    HostFacts host = perfect();
    host[feature].support = Support::blocked;
    EXPECT_EQ(level_of(host).level, Level::none) << to_string(feature);
  }
}

TEST(Feature, EveryOneHasItsPlaceAndName) {
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(all_features()[i]), i);
    EXPECT_NE(to_string(all_features()[i]), "unknown");
  }
}

}  // namespace
}  // namespace cordon
