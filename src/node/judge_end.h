// SPDX-License-Identifier: Apache-2.0
// Why a run ended: one Verdict from all that was seen of it. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "frame/guest.h"
#include "frame/launch_plan.h"
#include "frame/launcher.h"
#include "plan/limits.h"
#include "record/verdict.h"

namespace cordon::node {

// What we stopped it for, and what had been reached.
struct Stop {
  Ending ending = Ending::killed;
  std::uint64_t limit = 0;
  std::uint64_t peak = 0;
  std::string culprit;
};

struct EndFacts {
  std::string program;          // the first word of the command, without its directory
  std::uint32_t pid = 0;        // inside; 0: it never started
  std::optional<Stop> stopped;  // by us; the first reason counts
  std::optional<frame::Exited> exited;
  frame::GroupUse use;  // what the groups counted, and processes that a machine's kernel ended
  std::optional<std::uint64_t> memory_limit;
  std::uint64_t machine_memory = 0;  // of a virtual machine: its own, which is the limit inside
  bool machine_is_full = false;      // its pid 1 was ended by its kernel for want of memory
  std::optional<std::uint64_t> pids_limit;
  // Less than this left on the own disk is none: what one write may ask for at once.
  std::uint64_t disk_step = 4096;
  std::string largest;  // "python3 pid 7": who had the most memory when it was last measured
  std::string failure;  // why nothing more is known, where the sandbox was lost
};

// By what pid 1 of a machine said last; of any other sandbox the groups tell.
bool is_full_machine(const frame::LaunchPlan& plan, const Error& why);

Verdict judge_end(const EndFacts& facts);

}  // namespace cordon::node
