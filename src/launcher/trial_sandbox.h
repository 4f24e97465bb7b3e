// SPDX-License-Identifier: Apache-2.0
// A sandbox that is launched to find out whether it can be.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "launcher/launch.h"

namespace cordon::launcher {

// As small as one can be, with a network where the launcher can give one to any.
frame::LaunchPlan trial_plan(const Workshop& workshop, frame::Engine engine);

// With an id of its own.
Result<JudgedPlan> judge_under_new_id(const Workshop& workshop, const frame::LaunchPlan& plan);

struct Tried {
  std::uint32_t code = 0;         // of what was run inside
  std::vector<std::string> told;  // programs of which its engine told
};

// Launches it and runs `arguments` inside, if there are any. Takes no longer than `patience` from
// the launch on.
Result<Tried> try_plan(Workshop& workshop, const frame::LaunchPlan& plan,
                       const std::vector<std::string>& arguments, std::chrono::seconds patience);

// Whether there is something to read before then; waits for it.
bool answers_by(const os::Fd& fd, std::chrono::steady_clock::time_point late);

// Words of an error, fit for a line of a report.
std::string in_one_line(std::string text);

}  // namespace cordon::launcher
