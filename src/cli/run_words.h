// SPDX-License-Identifier: Apache-2.0
// What `cordon run` says on standard error, and its exit code. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "node/run.h"
#include "plan/lower.h"
#include "record/denial.h"

namespace cordon::cli {

// The command's own code; 128 and the signal's number; 127 and 126 where it could not be started;
// 124 when its time was over; 137 for the other limits; 125 for failures of ours.
int exit_code_of(const node::RunOutcome& outcome);

// Lines that begin with "cordon: "; nothing for a command that just ended.
std::string words_of(const node::RunOutcome& outcome, const std::string& command);
std::string words_of(const Denial& denial);
// The first of them, and how many more there are.
std::string words_of(const std::vector<Denial>& denials);
std::string words_of_review(const std::string& id, std::chrono::days kept);

// The command as a shell would read it back.
std::string spelled(const std::vector<std::string>& command);

}  // namespace cordon::cli
