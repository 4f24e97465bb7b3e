// SPDX-License-Identifier: Apache-2.0
// Random chains of attenuation: each step only takes away, and what is left is what a second,
// simple-minded reading of the caveats leaves.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "token/tokens_test.h"

namespace cordon::token {
namespace {

// Little worlds, so that queries hit: what is asked and what is granted come from the same few.
constexpr std::string_view kTenants[] = {"acme", "other", "third"};
constexpr std::string_view kSandboxes[] = {"aaaa", "bbbb", "cccc", "dddd"};
constexpr std::string_view kPaths[] = {"/", "/a", "/ab", "/a/b", "/a/b/c", "/a/bc", "/b"};
constexpr int kTimes[] = {0, 5, 10, 15, 20};

struct Asked {
  Query query;
  std::chrono::sys_seconds now;
};

class Dice {
 public:
  explicit Dice(unsigned seed) : random_{seed} {}
  std::size_t below(std::size_t count) { return random_() % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class T, std::size_t N>
  const T& of(const T (&list)[N]) {
    return list[below(N)];
  }

  Caveat caveat() {
    switch (below(7)) {
      case 0:
        return TenantIs{std::string{one_in(3) ? of(kTenants) : kTenants[0]}};
      case 1: {
        SandboxIn in;
        for (const std::string_view each : kSandboxes)
          if (!one_in(4)) in.sandboxes.insert(sandbox(std::string{each}));
        return in;
      }
      case 2: {
        OperationIn in;
        for (const OperationRow& row : all_operations())
          if (!one_in(6)) in.operations.add(row.operation);
        return in;
      }
      case 3:
        return PathBelow{std::string{one_in(2) ? kPaths[0] : of(kPaths)}};
      case 4:
        return BudgetOf{all_quantities()[below(all_quantities().size())].quantity, below(10)};
      case 5:  // rare: a policy is read for each
        if (one_in(20)) return PolicyCeiling{R"({"version":1})"};
        [[fallthrough]];
      default:
        return ExpiresAt{in_seconds(of(kTimes) + 5)};
    }
  }

  // Half of them at `late`.
  Asked asked(int late) {
    Asked asked{.query = {.operation = all_operations()[below(all_operations().size())].operation,
                          .tenant = one_in(3) ? of(kTenants) : kTenants[0]},
                .now = in_seconds(one_in(2) ? late : kTimes[0])};
    if (one_in(9)) asked.query.tenant = "";
    if (!one_in(6)) asked.query.sandbox = of(kSandboxes);
    if (row_of(asked.query.operation).has_path ? !one_in(9) : one_in(9))
      asked.query.path = of(kPaths);
    return asked;
  }

 private:
  std::minstd_rand random_;
};

// Caveat by caveat, from what docs/tokens.md says of each; nothing is folded together.
struct Allows {
  const Asked& asked;

  bool operator()(const TenantIs& caveat) const { return asked.query.tenant == caveat.tenant; }
  bool operator()(const SandboxIn& caveat) const {
    return asked.query.sandbox &&
           caveat.sandboxes.contains(sandbox(std::string{*asked.query.sandbox}));
  }
  bool operator()(const OperationIn& caveat) const {
    return caveat.operations.has(asked.query.operation);
  }
  bool operator()(const PathBelow& caveat) const {
    if (asked.query.operation != Operation::file_read &&
        asked.query.operation != Operation::file_write) {
      return false;
    }
    if (!asked.query.path) return false;
    const std::string prefix = caveat.prefix == "/" ? "/" : caveat.prefix + "/";
    return (std::string{*asked.query.path} + "/").starts_with(prefix);
  }
  bool operator()(const ExpiresAt& caveat) const { return asked.now < caveat.time; }
  bool operator()(const BudgetOf& /*counted elsewhere*/) const { return true; }
  bool operator()(const PolicyCeiling& /*held where a sandbox is made*/) const { return true; }
};

bool model(bool is_operator, const std::vector<Caveat>& caveats, const Asked& asked) {
  const bool bound = std::ranges::any_of(
      caveats, [](const Caveat& each) { return std::holds_alternative<TenantIs>(each); });
  const Operation operation = asked.query.operation;
  if (operation == Operation::node_read || operation == Operation::node_drain ||
      operation == Operation::node_configure || operation == Operation::metrics_read ||
      operation == Operation::sandbox_move) {
    if (!is_operator || bound) return false;
  } else if (!is_operator && !bound) {
    return false;
  }
  // Two tenants: the one that is asked for cannot be both.
  return std::ranges::all_of(caveats,
                             [&](const Caveat& each) { return std::visit(Allows{asked}, each); });
}

// What the token says to all of them.
std::vector<bool> answers(const std::string& text, const std::vector<Asked>& all) {
  std::map<std::chrono::sys_seconds, Tried> at;
  std::vector<bool> answers;
  for (const Asked& asked : all) {
    if (!at.contains(asked.now)) at.emplace(asked.now, try_at_node(text, asked.now));
    const Tried& tried = at.at(asked.now);
    answers.push_back(tried.authority && tried.authority->may(asked.query, asked.now));
  }
  return answers;
}

// 10,000 in all, in four parts that run beside one another.
class Chains : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(InParts, Chains, ::testing::Values(1U, 2U, 3U, 4U));

TEST_P(Chains, NeverWidenAndAreWhatTheModelSays) {
  constexpr int kChains = 2'500;
  constexpr std::size_t kQueries = 6;
  Dice dice{GetParam()};
  const AudienceKey key = key_of("node-a");
  int yes = 0;
  int narrowed = 0;
  for (int chain = 0; chain < kChains; ++chain) {
    Minted minted{.is_operator = dice.one_in(4)};
    if (!minted.is_operator || dice.one_in(3)) minted.caveats.emplace_back(TenantIs{"acme"});
    minted.caveats.emplace_back(ExpiresAt{in_seconds(20)});
    std::string text = *mint(key, random_of(static_cast<unsigned>(chain)), minted);
    std::vector<Asked> queries;
    queries.reserve(kQueries);
    const int late = dice.of(kTimes);
    for (std::size_t i = 0; i < kQueries; ++i) queries.push_back(dice.asked(late));
    std::vector<bool> before = answers(text, queries);
    for (std::size_t steps = 1 + dice.below(4); steps > 0; --steps) {
      const Caveat caveat = dice.caveat();
      minted.caveats.push_back(caveat);
      text = *attenuate(text, std::span{&caveat, 1});
      const std::vector<bool> after = answers(text, queries);
      for (std::size_t i = 0; i < kQueries; ++i) {
        ASSERT_TRUE(before[i] || !after[i]) << "chain " << chain << " widened";
        ASSERT_EQ(after[i], model(minted.is_operator, minted.caveats, queries[i]))
            << "chain " << chain;
        yes += after[i] ? 1 : 0;
        narrowed += before[i] && !after[i] ? 1 : 0;
      }
      before = after;
    }
  }
  // The claim is about something: there were answers of both kinds, and steps that turned them.
  EXPECT_GT(yes, kChains);
  EXPECT_GT(narrowed, kChains / 4);
}

TEST(Budgets, OnlyShrinkInAChain) {
  Dice dice{7};
  for (int chain = 0; chain < 200; ++chain) {
    std::string text = token_with();
    std::uint64_t before = 1000;
    for (int step = 0; step < 5; ++step) {
      const std::uint64_t most = dice.below(100);
      const Caveat caveat = BudgetOf{Quantity::sandboxes, most};
      text = *attenuate(text, std::span{&caveat, 1});
      before = std::min(before, most);
      ASSERT_EQ(try_at_node(text).authority->most(Quantity::sandboxes), before);
    }
  }
}

TEST(RevocationIdText, HasOneLength) {
  EXPECT_TRUE(revocation_id_from("00112233445566778899aabbccddeeff"));
  for (const char* text :
       {"", "00", "00112233445566778899aabbccddeef", "00112233445566778899aabbccddeefg",
        "+0112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff0"}) {
    EXPECT_FALSE(revocation_id_from(text)) << text;
  }
}

}  // namespace
}  // namespace cordon::token
