// SPDX-License-Identifier: Apache-2.0
#include "node/budgets.h"

#include <gtest/gtest.h>

#include "token/tokens_test.h"

namespace cordon::node {
namespace {

using token::BudgetOf;
using token::Quantity;

plan::Lowered sandbox_with(std::uint64_t memory, std::uint64_t pids = 10) {
  plan::Lowered lowered;
  lowered.plan.limits.memory = memory;
  lowered.plan.limits.pids = pids;
  lowered.plan.limits.milli_cpus = 500;
  lowered.plan.disk.bytes = 1000;
  return lowered;
}

token::Authority with(std::vector<token::Caveat> caveats) {
  return *token::try_at_node(token::token_with(std::move(caveats))).authority;
}

class BudgetsOf : public testing::Test {
 protected:
  ManualClock clock_{WallTime{token::kNow}};
  Budgets budgets_{clock_};
};

TEST_F(BudgetsOf, ATokenAreSpentAndGivenBack) {
  const token::Authority by = with({BudgetOf{Quantity::sandboxes, 2}});
  {
    const auto first = budgets_.take(by, sandbox_with(1));
    auto second = budgets_.take(by, sandbox_with(1));
    ASSERT_TRUE(first && second);
    const auto third = budgets_.take(by, sandbox_with(1));
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code(), Errc::exhausted);
    EXPECT_NE(third.error().text().find("sandboxes=2"), std::string::npos);
    *second = {};
    EXPECT_TRUE(budgets_.take(by, sandbox_with(1)));
  }
  EXPECT_EQ(budgets_.held(by.allowances().front().account, Quantity::sandboxes), 0U);
}

TEST_F(BudgetsOf, EveryKindHold) {
  const std::pair<Quantity, std::uint64_t> each[] = {{Quantity::processes, 10},
                                                     {Quantity::milli_cpus, 500},
                                                     {Quantity::memory_bytes, 4096},
                                                     {Quantity::disk_bytes, 1000},
                                                     {Quantity::sandboxes, 1}};
  for (const auto& [quantity, one] : each) {
    const token::Authority by = with({BudgetOf{quantity, one * 2 - 1}});
    const auto first = budgets_.take(by, sandbox_with(4096));
    EXPECT_TRUE(first) << token::to_string(quantity);
    if (one > 1) EXPECT_FALSE(budgets_.take(by, sandbox_with(4096))) << token::to_string(quantity);
    EXPECT_FALSE(budgets_.take(with({BudgetOf{quantity, 0}}), sandbox_with(4096)))
        << "0 is none at all";
    // The counter-arm: without the budget there is no bound.
    EXPECT_TRUE(budgets_.take(with({}), sandbox_with(4096)));
  }
}

TEST_F(BudgetsOf, OneTokenCountTogetherWhateverIsDerivedFromIt) {
  const std::string root = token::token_with({BudgetOf{Quantity::sandboxes, 3}});
  std::vector<Budgets::Share> shares;
  for (int i = 0; i < 3; ++i) {
    const token::Caveat narrower =
        token::PathBelow{"/" + std::string(1, static_cast<char>('a' + i))};
    const std::string child = *token::attenuate(root, std::span{&narrower, 1});
    auto share = budgets_.take(*token::try_at_node(child).authority, sandbox_with(1));
    ASSERT_TRUE(share);
    shares.push_back(*std::move(share));
  }
  EXPECT_FALSE(budgets_.take(*token::try_at_node(root).authority, sandbox_with(1)));
  // A smaller one of a child's own bounds the child, and counts in both.
  shares.pop_back();
  shares.pop_back();
  const token::Caveat one = BudgetOf{Quantity::sandboxes, 1};
  const auto child = *token::try_at_node(*token::attenuate(root, std::span{&one, 1})).authority;
  const auto first = budgets_.take(child, sandbox_with(1));
  EXPECT_TRUE(first);
  EXPECT_FALSE(budgets_.take(child, sandbox_with(1)));
  EXPECT_TRUE(budgets_.take(*token::try_at_node(root).authority, sandbox_with(1)));
}

TEST_F(BudgetsOf, CreatesAreByTheMinute) {
  const token::Authority by = with({BudgetOf{Quantity::creates_per_minute, 2}});
  EXPECT_TRUE(budgets_.take(by, sandbox_with(1)));
  EXPECT_TRUE(budgets_.take(by, sandbox_with(1)));
  EXPECT_FALSE(budgets_.take(by, sandbox_with(1)));
  clock_.advance(std::chrono::seconds{62});
  EXPECT_TRUE(budgets_.take(by, sandbox_with(1)));
}

TEST_F(BudgetsOf, WhatIsNotCountedIsNotGiven) {
  const token::Authority by = with({BudgetOf{Quantity::egress_bytes, 1'000'000}});
  EXPECT_TRUE(budgets_.take(by, sandbox_with(1)));
  plan::Lowered networked = sandbox_with(1);
  networked.network = frame::Serve{};
  EXPECT_EQ(budgets_.take(by, networked).error().code(), Errc::unavailable);
  EXPECT_TRUE(budgets_.take(with({}), networked));
  plan::Lowered unbounded = sandbox_with(1);
  unbounded.plan.limits.memory.reset();
  EXPECT_FALSE(budgets_.take(with({BudgetOf{Quantity::memory_bytes, 1 << 30}}), unbounded));
}

TEST_F(BudgetsOf, ALivingSandboxAreTakenOver) {
  const token::Authority by = with({BudgetOf{Quantity::sandboxes, 1}});
  const Charge charge{Quantity::sandboxes, 1, by.allowances().front().account};
  {
    const Budgets::Share over = budgets_.take_over({charge});
    EXPECT_FALSE(budgets_.take(by, sandbox_with(1)));
  }
  EXPECT_TRUE(budgets_.take(by, sandbox_with(1)));
}

}  // namespace
}  // namespace cordon::node
