// SPDX-License-Identifier: Apache-2.0
// From a prepared run to its outcome: launcher, network, credentials, sandbox.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "cli/local_sandbox.h"
#include "cli/run_face.h"
#include "cli/run_options.h"
#include "cli/run_prepare.h"
#include "cli/verbs.h"
#include "node/run.h"
#include "record/host_facts.h"
#include "sandbox/process/local_launcher.h"

namespace cordon::cli {

// Beside the preparation of the run. It does nothing to anybody until it is given a plan; where the
// run is refused it ends unused. Nothing where no sandbox can stand: lowering says why.
using EarlyLauncher = std::optional<Result<sandbox::StartedLauncher>>;
void start_early(EarlyLauncher& early, bool can_stand);

// The face of a run that is not the caller's terminal or pipes.
using MakeFace =
    std::function<Result<std::unique_ptr<CallerFace>>(const asio::any_io_executor& executor)>;
Result<node::RunOutcome> launch_run(const PreparedRun& run, const RunOptions& options,
                                    const Context& context, const HostFacts& host,
                                    EarlyLauncher early, const RunRecords& records,
                                    const MakeFace& make = {});

}  // namespace cordon::cli
