// SPDX-License-Identifier: Apache-2.0
// One command in one sandbox, from launch to verdict.
#pragma once

#include <string>
#include <vector>

#include "async/task.h"
#include "frame/guest.h"
#include "node/judge_end.h"
#include "node/responses.h"
#include "plan/lower.h"
#include "record/denial.h"
#include "record/verdict.h"
#include "sandbox/sandbox.h"

namespace cordon::node {

// Who a run talks to: the command line's terminal and pipes, a client's stream.
class RunFace {
 public:
  virtual ~RunFace() = default;

  // The process exists. Called once, before anything else; `process` lives until the run's end.
  virtual void begin(sandbox::Process& process) = 0;
  // Returns when the bytes are taken: that is the program's back-pressure.
  virtual async::Task<void> output(frame::Stream stream, std::string bytes) = 0;
  // Feeds the process until its input ends or this is cancelled.
  virtual asio::awaitable<void> pump_input(sandbox::Process& process) = 0;
  // Returns when the caller wants the run to end (an interrupt); the run then ends as `killed`.
  virtual asio::awaitable<void> until_stopped() = 0;
};

struct RunOutcome {
  Verdict verdict;
  bool started = false;     // a program ran
  std::string failed_step;  // where not: "exec", "directory"
  int failed_errno = 0;
  std::uint64_t output_bytes = 0;
  frame::GroupUse use;
  std::chrono::milliseconds wall{};
  std::vector<Denial> denials;  // each once with how often it was met
};

// How long a program has between SIGTERM and SIGKILL when its time is over.
inline constexpr std::chrono::milliseconds kGrace{400};

// Runs `command` in `sandbox` until it ends, or a budget does; then destroys the sandbox. An Error
// is a failure of ours before any program ran. `responses`: of the sandbox; what they ask for is
// done here, but for the network.
async::Task<RunOutcome> run(sandbox::Sandbox& sandbox, const plan::Lowered& lowered,
                            sandbox::Command command, RunFace& face,
                            Responses* responses = nullptr);

}  // namespace cordon::node
