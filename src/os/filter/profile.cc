// SPDX-License-Identifier: Apache-2.0
#include "os/filter/profile.h"

#include <algorithm>
#include <cerrno>

namespace cordon::os {
namespace {

constexpr FilterAction kAbsent = FilterAction::fail(ENOSYS);

FilterBase base_of(FilterProfile profile) {
  if (profile == FilterProfile::init) return FilterBase::init;
  return is_compat(profile) ? FilterBase::compat : FilterBase::strict;
}

bool is_past(const FilterAction& action) {
  return action.kind == FilterAction::Kind::allow || action.kind == FilterAction::Kind::notify;
}

}  // namespace

bool is_ever_allowed(const RuledCall& row) {
  return is_past(row.otherwise) ||
         std::ranges::any_of(row.clauses, [](const Clause& c) { return is_past(c.action); });
}

ProfileTable profile_table(FilterProfile profile) {
  const FilterBase base = base_of(profile);
  ProfileTable table;
  const auto add = [&](const Call& call, FilterAction action) {
    if (action != kAbsent) table.emplace(call.number, RuledCall{call, {}, action});
  };
  for (const Call& call : plain_calls()) add(call, FilterAction::allow());
  for (const RefusedCall& row : compat_calls()) {
    add(row.call,
        base == FilterBase::strict ? FilterAction::fail(row.error_number) : FilterAction::allow());
  }
  for (const RefusedCall& row : refused_calls()) {
    add(row.call, FilterAction::fail(row.error_number));
  }
  for (RuledCall& row : ruled_calls(base)) table.emplace(row.call.number, std::move(row));
  if (has_nosetid(profile)) refuse_set_id_bits(table);
  if (has_notify(profile)) notify_of_intentions(table);
  return table;
}

FilterSpec profile_spec(FilterProfile profile) {
  FilterSpec spec{.otherwise = kAbsent, .foreign = FilterAction::kill_process(), .x32 = kAbsent};
  for (const auto& [number, row] : profile_table(profile)) {
    for (const Clause& clause : row.clauses) {
      spec.rules.push_back({number, clause.action, clause.when});
    }
    if (row.otherwise != kAbsent) spec.rules.push_back({number, row.otherwise, {}});
  }
  return spec;
}

}  // namespace cordon::os
