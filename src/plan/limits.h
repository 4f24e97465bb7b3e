// SPDX-License-Identifier: Apache-2.0
// Limits: which the kernel keeps, and which are budgets that the node keeps.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frame/launch_plan.h"
#include "plan/files.h"
#include "plan/request.h"

namespace cordon::plan {

// How often a running sandbox is looked at for what no control group holds, and how often, at most,
// its workspace is counted.
inline constexpr std::chrono::milliseconds kSample{50};
// The longest between two looks at a sandbox in which nothing runs.
inline constexpr std::chrono::milliseconds kRestingSample{400};
inline constexpr std::chrono::seconds kWorkspaceSample{1};

// Kept by the node while the sandbox runs. Absent: without limit.
struct Budgets {
  std::optional<std::chrono::seconds> wall;
  std::optional<std::chrono::seconds> cpu;
  std::optional<std::uint64_t> output;
  // Only where no control group keeps it: sampled.
  std::optional<std::uint64_t> memory;
  // By how much the workspace may grow on the host's disk, in bytes: sampled.
  std::optional<std::uint64_t> workspace;
  std::uint64_t workspace_before = 0;  // what it had at the survey
  friend bool operator==(const Budgets&, const Budgets&) = default;
};

struct Limiting {
  frame::Disk disk;
  bool groups = false;
  frame::GroupLimits in_group;
  frame::ProcessLimits by_process;
  Budgets budgets;
};

// Of a machine: what the policy gives it, a whole number of mebibytes, or what is usual.
std::uint64_t machine_memory(const policy::Limits& limits);

// True when this caller may make groups with `controller`.
bool has_controller(const HostFacts& host, std::string_view controller);

// Where the host is written no file may grow past a disk limit that is stated, because the disk of
// a host directory is not the sandbox's own.
Limiting limits_of(const Request& request, const Files& files);

}  // namespace cordon::plan
