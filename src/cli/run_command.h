// SPDX-License-Identifier: Apache-2.0
// A run from flags to its exit code, with somebody beside it who has its bytes.
#pragma once

#include <memory>
#include <vector>

#include "audit/log.h"
#include "cli/run_face.h"
#include "cli/run_options.h"
#include "cli/run_prepare.h"
#include "cli/verbs.h"
#include "node/responses.h"

namespace cordon::cli {

// Who stands where the caller's terminal or pipes would.
class RunCompanion {
 public:
  virtual ~RunCompanion() = default;

  // The run is prepared and its record open; nothing exists yet. All of these outlive the run.
  virtual Status begin(const PreparedRun& run, audit::Log& log, const audit::Subject& subject,
                       node::Responses& responses) = 0;
  virtual Result<std::unique_ptr<CallerFace>> make_face(const asio::any_io_executor& executor) = 0;
  // After the run: what it refused, each once.
  virtual std::vector<Denial> take_denials() = 0;
};

// Sets the exit code; `companion` may be null.
void run_command(const RunOptions& options, Context& context, RunCompanion* companion = nullptr);

}  // namespace cordon::cli
