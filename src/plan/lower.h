// SPDX-License-Identifier: Apache-2.0
// From a policy, a host and a situation to a plan that can be launched here, or to the reasons why
// there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/egress.h"
#include "frame/launch_plan.h"
#include "frame/path_rules.h"
#include "frame/response.h"
#include "plan/limits.h"
#include "plan/situation.h"
#include "policy/policy.h"
#include "record/denial.h"
#include "record/enforcement.h"
#include "record/host_facts.h"

namespace cordon::plan {

struct Lowered {
  frame::LaunchPlan plan;
  Enforcement enforcement;
  Budgets budgets;
  // What cordon-egress is to be told before the launch; absent: there is no network.
  std::optional<frame::Serve> network;
  // Ports inside that may be tunnelled to, in order; only where the situation has tunnels.
  std::vector<std::uint16_t> ingress;
  std::vector<std::string> environment;  // of every process: NAME=value
  std::string directory;                 // where processes start: the workspace
  // Only where the situation has a monitor: what was refused is judged by it again.
  std::vector<frame::PathDocument> paths{};
  std::vector<frame::Response> responses{};
};

// Pure. Everything that the policy says is in the result, held or told in the Enforcement; what
// cannot be is a refusal: no plan is ever weaker than its policy without a word. On failure the
// Error is the first refusal and all of them are in `refusals` where it is given.
//
// The launcher mounts parents before what lies below them, whatever list they stand in: a mount may
// lie in the workspace, and the workspace in a mount or in the home.
Result<Lowered> lower(const policy::Policy& policy, const HostFacts& host,
                      const Situation& situation, std::vector<Denial>* refusals = nullptr);

}  // namespace cordon::plan
