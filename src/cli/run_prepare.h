// SPDX-License-Identifier: Apache-2.0
// From flags to a plan: all of a `cordon run` that happens before anything exists.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "cli/run_options.h"
#include "cli/verbs.h"
#include "node/credentials.h"
#include "os/fd.h"
#include "plan/lower.h"
#include "policy/policy.h"
#include "policy/problem.h"
#include "record/denial.h"
#include "record/host_facts.h"

namespace cordon::cli {

struct PreparedRun {
  SandboxId id;
  std::string workspace;  // the caller's directory, without links
  std::string state;      // where Cordon keeps what outlives runs
  plan::Lowered lowered;
  std::vector<node::HeldGrant> grants;   // none where there is no network
  std::optional<policy::Policy> policy;  // what it was lowered from
  os::Fd root;                           // keeps the image's tree as it is; often nothing
};

// Why a run was not prepared, told in full.
struct WhyNot {
  std::string id;  // of the run; empty where it had none yet
  policy::Problems problems{"command line"};
  std::vector<Denial> denials;
};

// How long an upper layer is kept that nobody applies or discards. The run prints it.
inline constexpr std::chrono::days kReviewAge{30};

// `layer`: the run in whose directory changes wait; nothing: in its own. Of two sandboxes on one
// layer the first has ended before the second is launched.
Result<PreparedRun> prepare_run(const RunOptions& options, const Context& context,
                                const HostFacts& facts, WhyNot& why,
                                const std::optional<RunId>& layer = {});

}  // namespace cordon::cli
