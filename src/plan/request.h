// SPDX-License-Identifier: Apache-2.0
// What every part of lowering reads, put together once.
#pragma once

#include <string>
#include <string_view>

#include "plan/refusals.h"
#include "plan/situation.h"
#include "policy/policy.h"
#include "record/host_facts.h"

namespace cordon::plan {

// Refers to the arguments of lower(), which outlive it.
struct Request {
  const policy::Policy& policy;
  const HostFacts& host;
  const Situation& situation;
  Refusals& refusals;
  policy::Settings settings;
  std::string workspace;  // inside

  // The typed command with `flag` added.
  std::string with_flag(std::string_view flag) const;
  // A command that shows what `document` says at `place`: presets are shown, files explained.
  static std::string show(const policy::PolicyDocument& document, policy::Place place);
};

// Where the workspace appears: as a document says, else as the caller says. Documents that differ
// are refused, because what each of them decides is about another tree.
std::string workspace_of(const policy::Policy& policy, const Situation& situation,
                         Refusals& refusals);

}  // namespace cordon::plan
