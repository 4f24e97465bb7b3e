// SPDX-License-Identifier: Apache-2.0
// The laws of attenuation, over random policies, and proof that the check of them sees a breach.
#include <array>
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "policy/checked.h"
#include "policy/random_policy_test.h"

namespace cordon::policy {
namespace {

using random::Dice;
using random::Question;

// The least of two limits, where nothing is no limit.
using Limit = std::optional<std::uint64_t>;
Limit least(const Limit& a, const Limit& b) { return !a ? b : !b ? a : std::min(*a, *b); }

constexpr std::optional<std::uint64_t> Limits::* kLimits[] = {
    &Limits::milli_cpus,  &Limits::memory,     &Limits::pids,   &Limits::disk,
    &Limits::inodes,      &Limits::open_files, &Limits::io,     &Limits::wall_seconds,
    &Limits::cpu_seconds, &Limits::output,     &Limits::egress, &Limits::requests_per_minute,
    &Limits::connections, &Limits::bandwidth};

// Written from the words beside the fields of Settings, apart from the code that computes them.
Settings meet(const Settings& a, const Settings& b) {
  Settings both;
  both.isolation = std::max(a.isolation, b.isolation);
  both.profile = std::max(a.profile, b.profile);
  both.user = std::min(a.user, b.user);
  std::ranges::set_intersection(a.capabilities, b.capabilities,
                                std::back_inserter(both.capabilities));
  std::map<std::string, int> require{a.require.begin(), a.require.end()};
  for (const auto& [name, number] : b.require) {
    const auto known = require.try_emplace(name, number).first;
    known->second = std::max(known->second, number);
  }
  both.require.assign(require.begin(), require.end());
  both.review = a.review || b.review;
  both.secret_scanning = a.secret_scanning || b.secret_scanning;
  for (const auto limit : kLimits) both.limits.*limit = least(a.limits.*limit, b.limits.*limit);
  return both;
}

enum class Law : std::uint8_t {
  never_wider,
  effect_is_the_least,
  refusal_names_its_document,
  rate_is_the_least,
  settings_meet,
  idempotent,
  commutative,
  associative,
};

// How often each law was broken, and how often each effect was seen by kind of question.
struct Findings {
  std::map<Law, long> broken;
  std::string first;  // what broke first
  long pairs = 0;
  long questions = 0;
  std::array<std::array<long, 3>, random::kKinds> effects{};

  void breach(Law law, const std::string& what) {
    if (broken.empty()) first = what;
    ++broken[law];
  }
  void expect(bool holds, Law law, const Question& question) {
    if (!holds) breach(law, random::to_string(question));
  }
};

Decision ask_of(const Policy& policy, const Question& question) {
  return random::ask(policy, question);
}
Limit rate_of(const Policy& policy, const ToolQuery& query) {
  return policy.calls_per_minute(query);
}
Settings settings_of(const Policy& policy) { return policy.settings(); }

// Checks the laws of `op` for random pairs of `pool`. `Op::Held` is what it makes and takes.
template <class Op>
class Checker {
 public:
  using Held = typename Op::Held;
  Checker(Op op, const std::vector<Policy>& pool, std::uint64_t seed)
      : op_{std::move(op)}, pool_{pool}, dice_{seed} {}

  Findings run(long pairs) {
    for (long i = 0; i < pairs; ++i) {
      const Policy& p = pool_[dice_.below(pool_.size())];
      const Policy& q = pool_[dice_.below(pool_.size())];
      const Held both = op_(Held{p}, Held{q});
      // One kind of question for each pair keeps the time down; every sixth pair has them all.
      for (std::size_t kind = 0; kind < random::kKinds; ++kind) {
        if (i % 6 == 0 || static_cast<std::size_t>(i) % random::kKinds == kind)
          check_question(p, q, both, random::random_question(dice_, kind), kind);
      }
      if (i % 8 == 0) check_settings(p, q, both);
      if (i % 16 == 0) check_algebra(p, q, both);
      ++found_.pairs;
    }
    return found_;
  }

 private:
  void check_question(const Policy& p, const Policy& q, const Held& both, const Question& question,
                      std::size_t kind) {
    const Decision mine = ask_of(p, question);
    const Decision theirs = ask_of(q, question);
    const Decision found = ask_of(both, question);
    ++found_.questions;
    ++found_.effects[kind][static_cast<std::size_t>(found.effect)];
    found_.expect(found.effect <= mine.effect && found.effect <= theirs.effect, Law::never_wider,
                  question);
    found_.expect(found.effect == std::min(mine.effect, theirs.effect), Law::effect_is_the_least,
                  question);
    // The first document that gave the lowest answer, counted through p and then q.
    Decision expected = mine;
    if (theirs.effect < mine.effect) {
      expected = theirs;
      expected.document += static_cast<std::uint32_t>(p.documents().size());
    }
    found_.expect(found.document == expected.document && found.place == expected.place &&
                      found.reason == expected.reason,
                  Law::refusal_names_its_document, question);
    if (const auto* const tool = std::get_if<ToolQuery>(&question)) {
      found_.expect(rate_of(both, *tool) == least(rate_of(p, *tool), rate_of(q, *tool)),
                    Law::rate_is_the_least, question);
    }
  }

  void check_settings(const Policy& p, const Policy& q, const Held& both) {
    if (settings_of(both) != meet(p.settings(), q.settings()))
      found_.breach(Law::settings_meet, "settings");
  }

  void check_algebra(const Policy& p, const Policy& q, const Held& both) {
    const Policy& r = pool_[dice_.below(pool_.size())];
    const Held twice = op_(Held{p}, Held{p});
    const Held swapped = op_(Held{q}, Held{p});
    const Held left = op_(both, Held{r});
    const Held right = op_(Held{p}, op_(Held{q}, Held{r}));
    for (std::size_t kind = 0; kind < random::kKinds; ++kind) {
      const Question question = random::random_question(dice_, kind);
      const auto effect = [&](const auto& held) { return ask_of(held, question).effect; };
      found_.expect(effect(twice) == effect(p), Law::idempotent, question);
      found_.expect(effect(swapped) == effect(both), Law::commutative, question);
      found_.expect(effect(left) == effect(right), Law::associative, question);
    }
    if (settings_of(twice) != p.settings()) found_.breach(Law::idempotent, "settings");
    if (settings_of(swapped) != settings_of(both)) found_.breach(Law::commutative, "settings");
    if (settings_of(left) != settings_of(right)) found_.breach(Law::associative, "settings");
  }

  Op op_;
  const std::vector<Policy>& pool_;
  Dice dice_;
  Findings found_;
};

// 1,000 policies of one document, 500 of two and 500 of three.
const std::vector<Policy>& pool() {
  static const std::vector<Policy> all = [] {
    Dice dice{1};
    std::vector<Policy> made;
    made.reserve(2000);
    for (int i = 0; i < 1000; ++i) made.push_back(random::random_policy(dice));
    for (int i = 0; i < 1000; ++i) {
      Policy more = attenuate(made[dice.below(1000)], made[dice.below(1000)]);
      if (i % 2 == 0) more = attenuate(more, made[dice.below(1000)]);
      made.push_back(std::move(more));
    }
    return made;
  }();
  return all;
}

struct RealAttenuate {
  using Held = Policy;
  Held operator()(const Held& p, const Held& q) const { return attenuate(p, q); }
};

std::string describe(const Findings& found) {
  std::string text = fmt::format("{} pairs, {} questions;", found.pairs, found.questions);
  for (std::size_t kind = 0; kind < random::kKinds; ++kind) {
    const auto& [deny, ask, allow] = found.effects[kind];
    text +=
        fmt::format(" {}: deny {} ask {} allow {};", random::kKindNames[kind], deny, ask, allow);
  }
  for (const auto& [law, times] : found.broken)
    text += fmt::format(" law {} broken {} times;", static_cast<int>(law), times);
  return text + " first: " + found.first;
}

// Where one effect hardly ever happens, the laws would hold of nothing.
void expect_all_effects(const Findings& found) {
  for (std::size_t kind = 0; kind < random::kKinds; ++kind) {
    const auto& [deny, ask, allow] = found.effects[kind];
    const long twentieth = (deny + ask + allow) / 20;
    const bool asks = kind == 1 || kind == 2;  // only connections and tools are ever asked about
    EXPECT_GE(deny, twentieth) << random::kKindNames[kind];
    EXPECT_GE(allow, twentieth) << random::kKindNames[kind];
    if (asks) EXPECT_GE(ask, twentieth) << random::kKindNames[kind];
  }
}

TEST(Attenuation, HoldsItsLawsForRandomPolicies) {
  const Findings found = Checker<RealAttenuate>{{}, pool(), 2}.run(100'000);
  EXPECT_TRUE(found.broken.empty()) << describe(found);
  EXPECT_GE(found.pairs, 100'000);
  expect_all_effects(found);
  RecordProperty("laws", describe(found));
}

// The counter-arm: each of these is wrong, and the checker must say so.
struct ReturnsTheParent {
  using Held = Policy;
  Held operator()(const Held& p, const Held& /*q*/) const { return p; }
};
struct ReturnsTheChild {
  using Held = Policy;
  Held operator()(const Held& /*p*/, const Held& q) const { return q; }
};

// Drops the last document, whoever's it is.
struct ForgetsTheLast {
  using Held = Policy;
  Held operator()(const Held& p, const Held& q) const {
    const Policy whole = attenuate(p, q);
    Policy shorter = *singles.at(whole.documents().front().get());
    for (std::size_t i = 1; i + 1 < whole.documents().size(); ++i)
      shorter = attenuate(shorter, *singles.at(whole.documents()[i].get()));
    return shorter;
  }
  std::map<const CheckedDocument*, const Policy*> singles = [] {
    std::map<const CheckedDocument*, const Policy*> all;
    for (const Policy& policy : pool()) {
      if (policy.documents().size() == 1) all.emplace(policy.documents().front().get(), &policy);
    }
    return all;
  }();
};

// Allows what either allows.
struct Join {
  struct Held {
    explicit Held(const Policy& policy) : parts{policy} {}
    std::vector<Policy> parts;
  };
  Held operator()(const Held& p, const Held& q) const {
    Held both = p;
    both.parts.insert(both.parts.end(), q.parts.begin(), q.parts.end());
    return both;
  }
};
Decision ask_of(const Join::Held& held, const Question& question) {
  Decision widest = random::ask(held.parts.front(), question);
  for (const Policy& part : held.parts) {
    const Decision decision = random::ask(part, question);
    if (decision.effect > widest.effect) widest = decision;
  }
  return widest;
}
Limit rate_of(const Join::Held& held, const ToolQuery& query) {
  Limit widest = held.parts.front().calls_per_minute(query);
  for (const Policy& part : held.parts) {
    const Limit rate = part.calls_per_minute(query);
    widest = widest && rate ? Limit{std::max(*widest, *rate)} : std::nullopt;
  }
  return widest;
}
Settings settings_of(const Join::Held& held) {
  Settings widest = held.parts.front().settings();
  for (const Policy& part : held.parts)
    widest.isolation = std::min(widest.isolation, part.settings().isolation);
  return widest;
}

template <class Op>
void expect_breaches(std::initializer_list<Law> laws) {
  const Findings found = Checker<Op>{{}, pool(), 3}.run(3'000);
  for (const Law law : laws)
    EXPECT_TRUE(found.broken.contains(law)) << static_cast<int>(law) << ": " << describe(found);
}

TEST(LawChecker, SeesAnOperationThatReturnsTheParent) {
  expect_breaches<ReturnsTheParent>({Law::never_wider, Law::effect_is_the_least, Law::settings_meet,
                                     Law::rate_is_the_least, Law::commutative});
}
TEST(LawChecker, SeesAnOperationThatReturnsTheChild) {
  expect_breaches<ReturnsTheChild>({Law::never_wider, Law::effect_is_the_least, Law::settings_meet,
                                    Law::refusal_names_its_document, Law::commutative});
}
TEST(LawChecker, SeesAnOperationThatForgetsADocument) {
  expect_breaches<ForgetsTheLast>({Law::never_wider, Law::effect_is_the_least, Law::settings_meet});
}
TEST(LawChecker, SeesAnOperationThatJoins) {
  expect_breaches<Join>({Law::never_wider, Law::effect_is_the_least, Law::settings_meet});
}

TEST(Narrowing, NeverWidensForRandomWorkspaceFiles) {
  Dice dice{4};
  std::array<std::array<long, 2>, random::kKinds> narrowed{};  // unchanged, narrower
  for (int i = 0; i < 1'500; ++i) {
    const std::string text = random::random_document(dice, random::Writer::workspace);
    const Policy& before = pool()[dice.below(pool().size())];
    const auto after = narrow(before, random::parsed(text), {});
    ASSERT_TRUE(after) << after.error().text() << "\n" << text;
    EXPECT_EQ(meet(before.settings(), after->settings()), after->settings()) << text;
    for (int j = 0; j < 60; ++j) {
      const std::size_t kind = dice.below(random::kKinds);
      const Question question = random::random_question(dice, kind);
      const Effect was = random::ask(before, question).effect;
      const Effect is = random::ask(*after, question).effect;
      ASSERT_LE(is, was) << random::to_string(question) << "\n" << text;
      if (was != Effect::deny) ++narrowed[kind][is < was ? 1 : 0];
    }
  }
  for (std::size_t kind = 0; kind < random::kKinds; ++kind) {
    EXPECT_GT(narrowed[kind][0], 100) << random::kKindNames[kind];
    EXPECT_GT(narrowed[kind][1], 100) << random::kKindNames[kind];
  }
}

// A child that says more than its parent, fence by fence.
TEST(Attenuation, LetsNoChildOutgrowItsParentAndNamesTheParent) {
  const auto policy = [](std::string_view text) {
    return *check(*parse(text, "p.toml", Syntax::toml), Origin::user, {});
  };
  const Policy parent = policy(R"(
isolation = "microvm"
require = ["landlock:5"]
[filesystem]
mode = "read_only"
hide = ["**/.env"]
[network]
egress_allowlist = [{ host = "a.example", methods = ["GET"] }]
[resources]
memory_limit = "1Gi"
timeout_seconds = 60
cpu_seconds = 30
[tools.github]
allow = ["get_*"]
)");
  const Policy child = policy(R"(
isolation = "process"
[filesystem]
mode = "read_write"
[network]
mode = "public"
[resources]
memory_limit = "8Gi"
timeout_seconds = 600
cpu_seconds = 300
[[credentials.grants]]
name = "one"
from = "env:TOKEN"
host = "a.example"
header = "X: {secret}"
[tools.github]
allow = ["*"]
)");
  const Policy both = attenuate(parent, child);
  const Question refused[] = {
      PathQuery{Access::write, "/workspace/x"},
      PathQuery{Access::read, "/workspace/.env"},
      NetQuery{.host = "b.example"},
      NetQuery{.host = "a.example", .method = "POST", .path = "/"},
      CredentialQuery{"one", "a.example", "GET", "/"},
      ToolQuery{"github", "delete_issue"},
  };
  for (const Question& question : refused) {
    EXPECT_EQ(random::ask(child, question).effect, Effect::allow) << random::to_string(question);
    const Decision decision = random::ask(both, question);
    EXPECT_EQ(decision.effect, Effect::deny) << random::to_string(question);
    EXPECT_EQ(decision.document, 0U) << random::to_string(question);
    // Put under it the other way round, the refusal is still the parent's.
    EXPECT_EQ(random::ask(attenuate(child, parent), question).document, 1U)
        << random::to_string(question);
  }
  const Settings settings = both.settings();
  EXPECT_EQ(settings.isolation, Isolation::microvm);
  EXPECT_EQ(settings.limits.memory, 1U << 30U);
  EXPECT_EQ(settings.limits.wall_seconds, 60U);
  EXPECT_EQ(settings.limits.cpu_seconds, 30U);
  EXPECT_EQ(settings.require, (std::vector<std::pair<std::string, int>>{{"landlock", 5}}));
}

}  // namespace
}  // namespace cordon::policy
