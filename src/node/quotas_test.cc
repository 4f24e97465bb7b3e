// SPDX-License-Identifier: Apache-2.0
#include "node/quotas.h"

#include <vector>

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

using namespace std::chrono_literals;

class QuotasOf : public testing::Test {
 protected:
  Settings settings_;
  ManualClock clock_{WallTime{}};
  Quotas quotas_{settings_, clock_};
};

TEST_F(QuotasOf, NobodyAreBoundless) {
  std::vector<Quotas::Share> held;
  for (int i = 0; i < 100; ++i) {
    auto share = quotas_.take("acme", {.milli_cpus = 1000, .memory = 1U << 30U});
    ASSERT_TRUE(share);
    held.push_back(*std::move(share));
  }
  EXPECT_EQ(quotas_.sandboxes_of("acme"), 100U);
}

TEST_F(QuotasOf, LivingSandboxesAreGivenBackAtTheirEnd) {
  settings_.quota.sandboxes = 2;
  auto first = quotas_.take("acme", {});
  auto second = quotas_.take("acme", {});
  ASSERT_TRUE(first && second);
  const auto third = quotas_.take("acme", {});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), Errc::exhausted);
  EXPECT_EQ(third.error().text(),
            "tenant acme has reached its quota of 2 living sandboxes; end one first");
  EXPECT_TRUE(quotas_.take("other", {}));
  *first = {};
  EXPECT_TRUE(quotas_.take("acme", {}));
}

TEST_F(QuotasOf, MemoryAndProcessorsAreSums) {
  settings_.tenants["acme"].quota = {
      .sandboxes = {}, .creates_per_second = {}, .milli_cpus = 1500, .memory = 100};
  auto first = quotas_.take("acme", {.milli_cpus = 1000, .memory = 60});
  ASSERT_TRUE(first);
  EXPECT_FALSE(quotas_.take("acme", {.milli_cpus = 501, .memory = 1}));
  EXPECT_FALSE(quotas_.take("acme", {.milli_cpus = 1, .memory = 41}));
  EXPECT_TRUE(quotas_.take("acme", {.milli_cpus = 500, .memory = 40}));
}

TEST_F(QuotasOf, CreatesPerSecondComeBackWithTime) {
  settings_.quota.creates_per_second = 3;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(quotas_.take("acme", {}));
  EXPECT_FALSE(quotas_.take("acme", {}));
  clock_.advance(334ms);
  EXPECT_TRUE(quotas_.take("acme", {}));
  EXPECT_FALSE(quotas_.take("acme", {}));
  clock_.advance(1h);  // no more than a second's worth
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(quotas_.take("acme", {}));
  EXPECT_FALSE(quotas_.take("acme", {}));
}

TEST_F(QuotasOf, RequestsAreGivenBackAtTheirEnd) {
  settings_.quota.requests = 2;
  std::vector<Quotas::Request> held;
  for (int i = 0; i < 2; ++i) {
    auto request = quotas_.begin_request("acme");
    ASSERT_TRUE(request);
    held.push_back(*std::move(request));
  }
  const auto third = quotas_.begin_request("acme");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().text(),
            "tenant acme has reached its quota of 2 requests at once; end a stream, or wait for an "
            "answer");
  EXPECT_TRUE(quotas_.begin_request("other"));
  EXPECT_TRUE(quotas_.take("acme", {}));
  held.pop_back();
  EXPECT_TRUE(quotas_.begin_request("acme"));
}

TEST_F(QuotasOf, WhatLivesAlreadyIsNeverRefused) {
  settings_.quota.sandboxes = 1;
  const auto first = quotas_.take_over("acme", {});
  const auto second = quotas_.take_over("acme", {});
  EXPECT_EQ(quotas_.sandboxes_of("acme"), 2U);
  EXPECT_FALSE(quotas_.take("acme", {}));
}

}  // namespace
}  // namespace cordon::node
