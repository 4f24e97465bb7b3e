// SPDX-License-Identifier: Apache-2.0
#include "filter_mutants.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string.h>
#include <utility>

#include <fmt/format.h>

namespace cordon::mutation {
namespace {

using os::ArgumentTest;
using os::Clause;
using os::FilterAction;
using os::RuledCall;

constexpr FilterAction kAllow = FilterAction::allow();
constexpr const char* kUnknown = "unknown numbers: allowed";
constexpr const char* kX32 = "x32 numbers: allowed";
constexpr const char* kForeign = "another architecture: allowed";

bool refuses(const FilterAction& action) {
  return action.kind == FilterAction::Kind::fail || action.kind == FilterAction::Kind::kill_process;
}

std::string to_text(const ArgumentTest& test) {
  const char* const op = test.op == ArgumentTest::Op::any_bit ? "any" : "==";
  return fmt::format("a{} & {:#x} {} {:#x}", test.index, test.mask, op, test.value);
}

std::string to_text(const Clause& clause) {
  std::string text = refuses(clause.action) ? strerrorname_np(clause.action.error_number) : "allow";
  for (const ArgumentTest& test : clause.when) {
    text += (&test == clause.when.data() ? " if " : ", ") + to_text(test);
  }
  return text;
}

struct Mutated {
  std::string name;
  RuledCall row;
};

// All that one row can lose.
std::vector<Mutated> mutants_of(const RuledCall& row) {
  std::vector<Mutated> all;
  const std::string call{row.call.name};
  if (refuses(row.otherwise)) {
    RuledCall open = row;
    open.otherwise = kAllow;
    all.push_back({call + (row.clauses.empty() ? ": allowed" : ": allowed where nothing matches"),
                   std::move(open)});
  }
  for (std::size_t c = 0; c < row.clauses.size(); ++c) {
    const Clause& clause = row.clauses[c];
    if (refuses(clause.action)) {
      RuledCall less = row;
      less.clauses.erase(less.clauses.begin() + static_cast<std::ptrdiff_t>(c));
      all.push_back({call + ": without " + to_text(clause), std::move(less)});
      continue;
    }
    for (std::size_t t = 0; t < clause.when.size(); ++t) {
      RuledCall wider = row;
      auto& when = wider.clauses[c].when;
      when.erase(when.begin() + static_cast<std::ptrdiff_t>(t));
      all.push_back(
          {fmt::format("{}: {}, without its test {}", call, to_text(clause), t), std::move(wider)});
    }
  }
  return all;
}

// Calls that are absent from some profile, by name.
std::vector<os::Call> absent_from_some() {
  std::vector<os::Call> calls{os::absent_calls().begin(), os::absent_calls().end()};
  for (const os::RefusedCall& row : os::compat_calls()) {
    if (row.error_number == ENOSYS) calls.push_back(row.call);
  }
  for (const os::Call& call : os::plain_calls()) {
    if (call.name == "openat2") calls.push_back(call);  // of `nosetid`
  }
  return calls;
}

// As the compiler wants them: nothing behind a clause that always matches, nothing at the end that
// the default says anyway.
void add_rules(const RuledCall& row, os::FilterSpec& spec) {
  std::vector<os::FilterRule> rules;
  for (const Clause& clause : row.clauses) {
    rules.push_back({row.call.number, clause.action, clause.when});
    if (clause.when.empty()) break;
  }
  if (rules.empty() || !rules.back().when.empty()) {
    rules.push_back({row.call.number, row.otherwise, {}});
  }
  while (!rules.empty() && rules.back().action == spec.otherwise) rules.pop_back();
  spec.rules.insert(spec.rules.end(), rules.begin(), rules.end());
}

}  // namespace

std::vector<std::string> filter_mutants() {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto add = [&](std::string name) {
    if (seen.insert(name).second) names.push_back(std::move(name));
  };
  for (const os::FilterProfile profile : os::kFilterProfiles) {
    for (const auto& [number, row] : os::profile_table(profile)) {
      for (Mutated& mutated : mutants_of(row)) add(std::move(mutated.name));
    }
  }
  for (const os::Call& call : absent_from_some()) add(std::string{call.name} + ": allowed");
  for (const char* const name : {kUnknown, kX32, kForeign}) add(name);
  return names;
}

os::FilterSpec mutated_spec(os::FilterProfile profile, const std::string& mutant) {
  os::ProfileTable table = os::profile_table(profile);
  for (auto& [number, row] : table) {
    for (Mutated& mutated : mutants_of(row)) {
      if (mutated.name != mutant) continue;
      row = std::move(mutated.row);
      break;
    }
  }
  for (const os::Call& call : absent_from_some()) {
    if (std::string{call.name} + ": allowed" == mutant) {
      table.emplace(call.number, RuledCall{call, {}, kAllow});
    }
  }
  const FilterAction absent = FilterAction::fail(ENOSYS);
  os::FilterSpec spec{.otherwise = mutant == kUnknown ? kAllow : absent,
                      .foreign = mutant == kForeign ? kAllow : FilterAction::kill_process(),
                      .x32 = mutant == kX32 ? kAllow : absent};
  for (const auto& [number, row] : table) add_rules(row, spec);
  // What is absent by name stays so where only the unknown is let through.
  if (mutant == kUnknown) {
    for (const os::Call& call : absent_from_some()) {
      if (!table.contains(call.number)) spec.rules.push_back({call.number, absent, {}});
    }
  }
  return spec;
}

}  // namespace cordon::mutation
