// SPDX-License-Identifier: Apache-2.0
// For tests: arguments at and around every number that a profile's rules name.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <vector>

#include "os/filter/profile.h"
#include "os/seccomp_model.h"

namespace cordon::os {

using Numbers = std::initializer_list<std::uint64_t>;

inline constexpr std::uint64_t kJunkAbove = 0xA5A5'0001'0000'0000ULL;

// Numbers that make `test` hold, fail by one bit, and do either with junk where it does not look.
inline void add_candidates(const ArgumentTest& test, std::set<std::uint64_t>& numbers) {
  const auto add = [&](std::uint64_t number) {
    numbers.insert(number);
    numbers.insert(number | (kJunkAbove & ~test.mask));
    numbers.insert(number | ~test.mask);
  };
  if (test.op == ArgumentTest::Op::equal) {
    for (const std::uint64_t number : Numbers{
             test.value, test.value ^ 1U, test.value ^ (1ULL << 63U), test.value | kJunkAbove}) {
      numbers.insert(number);
    }
    return;
  }
  const std::uint64_t holding = test.op == ArgumentTest::Op::masked ? test.value : 0;
  add(holding);
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = 1ULL << bit;
    const bool edge = (test.mask & (one - 1)) == 0 || (test.mask >> bit) == 1;
    // Of a wide mask the ends are enough, of a set of flags each one counts.
    if ((test.mask & one) != 0 && (edge || test.op == ArgumentTest::Op::any_bit)) {
      numbers.insert(holding ^ one);
    }
  }
}

// All combinations for one row; the arguments that it does not ask about are junk.
inline std::vector<CallArguments> candidates(const RuledCall& row) {
  std::map<unsigned, std::set<std::uint64_t>> numbers;
  for (const Clause& clause : row.clauses) {
    for (const ArgumentTest& test : clause.when) add_candidates(test, numbers[test.index]);
  }
  CallArguments junk{};
  junk.fill(0x5A5A'5A5A'0000'0000ULL);
  std::vector<CallArguments> all{junk};
  for (auto& [index, values] : numbers) {
    values.insert({0, ~std::uint64_t{0}, kJunkAbove});
    std::vector<CallArguments> wider;
    wider.reserve(all.size() * values.size());
    for (CallArguments arguments : all) {
      for (const std::uint64_t value : values) {
        arguments[index] = value;
        wider.push_back(arguments);
      }
    }
    all = std::move(wider);
  }
  return all;
}

// What a row says, clause by clause; `without`: as if that clause were not there.
inline FilterAction decide(const RuledCall& row, const CallArguments& arguments,
                           const Clause* without = nullptr) {
  const seccomp_data data = make_call_data(row.call.number, arguments);
  for (const Clause& clause : row.clauses) {
    if (&clause == without) continue;
    if (std::ranges::all_of(clause.when, [&](const ArgumentTest& test) {
          return argument_test_holds(test, data);
        })) {
      return clause.action;
    }
  }
  return row.otherwise;
}

inline bool is_past(const FilterAction& action) {
  return action == FilterAction::allow() || action == FilterAction::notify();
}

}  // namespace cordon::os
