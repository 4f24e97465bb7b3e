// SPDX-License-Identifier: Apache-2.0
// The launcher's own lower bound: what no plan may go below, whoever sent it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "launcher/pins.h"

namespace cordon::launcher {

// From a root-owned file as a service, compiled defaults in local use. Never from a plan.
struct Floor {
  // Ids that sandboxes may be given, in ranges of kRange; never below 65,536.
  std::uint32_t first_id = 0;
  std::uint32_t ranges = 0;  // 0: no range can be mapped, only the caller's own id
  // Directories beneath which sources, roots and state may lie; "/" in local use, where the kernel
  // judges by the caller's rights.
  std::vector<std::string> sources;
  bool caller_ids = false;     // plans may map the launcher's own id (local use without root)
  bool writable_binds = true;  // plans may write to what is of the host, workspaces included
  bool disk_images = false;    // only root can mount one
  std::string runsc;           // what `gvisor` runs; empty: nothing
  std::string qemu;            // what `microvm` runs; empty: nothing
  std::string machine;         // a directory with its kernel and its first file system
  PinnedDigests pins;          // of those files that are not run with anything else in them
  frame::Engine least_engine = frame::Engine::none;  // plans behind less are refused
  bool saves_machines = false;  // one of each size that is asked for, at its first use: local use
  bool witnesses = false;       // filters may tell whoever launches: local use
};

// Of a machine, in its directory.
inline constexpr const char* kMachineKernel = "/vmlinux";
inline constexpr const char* kMachineFiles = "/initramfs";

// Where the launcher keeps what it trusts itself: locks of id ranges, templates of disks.
inline constexpr const char* kLocks = "/run/cordon";
inline constexpr const char* kDisks = "/var/lib/cordon/disks";

inline constexpr std::uint32_t kRange = 65'536;
using frame::kInitId;

// Ids that no system we know of gives to people, services or other containers by default: above
// those of systemd's containers, below 0x7ffe0000.
inline constexpr std::uint32_t kFirstId = 0x70000000U;
inline constexpr std::uint32_t kRanges = 4'094;

// Both of one plain spelling: absolute, no empty, "." or ".." component, no end in a slash but "/".
bool is_plain_path(std::string_view path);
bool is_below(std::string_view path, std::string_view tree);

// A plan that the floor let pass. Only what has this type is launched.
class JudgedPlan {
 public:
  const frame::LaunchPlan& operator*() const noexcept { return plan_; }
  const frame::LaunchPlan* operator->() const noexcept { return &plan_; }

 private:
  friend Result<JudgedPlan> judge(const frame::ReceivedPlan& plan, const Floor& floor);
  explicit JudgedPlan(frame::LaunchPlan plan) : plan_{std::move(plan)} {}
  frame::LaunchPlan plan_;
};

// `denied` with what is below the floor. Pure: looks at nothing but its arguments.
Result<JudgedPlan> judge(const frame::ReceivedPlan& plan, const Floor& floor);

}  // namespace cordon::launcher
