// SPDX-License-Identifier: Apache-2.0
// What the audit log tells of one run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/record.h"
#include "base/result.h"
#include "cli/audit_verbs.h"
#include "policy/act.h"
#include "record/denial.h"
#include "record/verdict.h"

namespace cordon::cli {

// An act that was recorded, however it ended.
struct PastAct {
  policy::Act act;
  bool was_refused = false;
  std::uint64_t uses = 1;
};

struct RunHistory {
  std::string sandbox;
  std::string tenant;           // of a node's; empty: a run of this machine
  std::vector<Denial> denials;  // each once, with how often
  std::vector<PastAct> acts;    // each once; those that were refused too
  std::uint64_t unasked = 0;    // acts of which too little is told to ask a policy about them
  std::optional<Verdict> verdict;
};

// Of `sandbox`; of the one that began, or was refused something, last where that is empty.
// `not_found`: the log tells of none such.
Result<RunHistory> read_history(const AuditOptions& options, const Context& context,
                                const std::string& sandbox);

// The acts that one event tells of; counts in `unasked` what it cannot say. Those of refusals and
// of the node itself are not among them.
std::vector<policy::Act> acts_of(const AuditEvent& event, std::uint64_t& unasked);

// Where its workspace is inside: as it was said, as a run of this machine that waits for review
// has it, as nodes have it, or else the current directory.
std::string workspace_of(const RunHistory& run, const std::string& said, const Context& context);

}  // namespace cordon::cli
