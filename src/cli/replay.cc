// SPDX-License-Identifier: Apache-2.0
#include "cli/replay.h"

#include <algorithm>

#include "policy/glob.h"

namespace cordon::cli {
namespace {

using policy::Reason;

// Nothing in the policy speaks of it, and every sandbox has it.
bool is_own_place(const policy::Act& act, Reason reason, const ReplayPlace& place) {
  if (reason == Reason::own_absent || reason == Reason::own_read_only) return true;
  const auto* const path = std::get_if<policy::PathAct>(&act);
  if (path == nullptr || reason != Reason::absent_path) return false;
  return std::ranges::any_of(place.homes, [&](const std::string& home) {
    return policy::is_normal_path(home) && home != "/" &&
           policy::below(path->path, home).has_value();
  });
}

}  // namespace

std::vector<Replayed> replay(const policy::Policy& policy, const RunHistory& run,
                             const ReplayPlace& place) {
  std::vector<Replayed> all;
  all.reserve(run.acts.size());
  for (const PastAct& past : run.acts) {
    const policy::Decision decision = decide(policy, past.act, place.workspace);
    const policy::Explanation told = explain(policy, past.act, place.workspace);
    Replayed one{.sandbox = run.sandbox,
                 .kind = std::string{kind_of(past.act)},
                 .what = words_of(past.act),
                 .uses = past.uses,
                 .was_refused = past.was_refused,
                 .now = decision.effect,
                 .rule = policy::rule_of(policy, decision),
                 .why = told.sentence};
    if (!decision.allowed() && !past.was_refused &&
        is_own_place(past.act, decision.reason, place)) {
      one.now = policy::Effect::allow;
      one.rule = "default";
      one.why = "it is the sandbox's own";
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace cordon::cli
