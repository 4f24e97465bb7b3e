// SPDX-License-Identifier: Apache-2.0
// Sandboxes made ahead as far as no plan is needed: a pid 1 behind all its fences, on bare ground.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/result.h"
#include "launcher/groups.h"
#include "launcher/identity.h"
#include "launcher/sources.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

struct Workshop;

// Its pid 1 waits for its setup. The tree has /dev and /proc and nothing of the host; the launcher
// furnishes it (furnish_berth) before pid 1 is told anything.
struct Berth {
  LentRange range;
  SandboxGroups groups;
  os::Child init;
  os::Fd control;           // the host's end of pid 1's stream
  os::Fd user_namespace;    // of its ids
  std::vector<os::Fd> own;  // directories of its own disk, as detached mounts

  bool is_alive() const noexcept;
};

// Puts the plan's tree, disk and host name into a berth. The caller visits the berth's namespaces
// for that and is back in its own when this returns; where it could not come back it ends.
// Before: the plan fits, and no process of the berth has run anything but cordon-init.
Status furnish_berth(Berth& berth, const JudgedPlan& plan, const HostIds& ids,
                     const Sources& sources, Workshop& workshop);

// Each berth is used once. One is made at a time, beside whatever else goes on.
class BerthPool {
 public:
  // `ahead`: how many to hold; 0: none, every sandbox is made when it is asked for. `landlock_abi`:
  // what the first plan will want, most likely.
  BerthPool(unsigned ahead, std::int32_t landlock_abi)
      : ahead_{ahead}, landlock_abi_{landlock_abi} {}

  // None where none is ready, or the plan wants what a berth does not have: the caller's ids,
  // capabilities, pins, a disk image, a workspace of the host, many directories.
  std::optional<Berth> take(const frame::LaunchPlan& plan);

  // For one whose ids another sandbox needs. False: there is none.
  bool give_up_one();

  // Whether there is something to do when nobody waits; false after a failure, until the next take.
  bool wants_more() const noexcept { return !failed_ && !reports_ && ready_.size() < ahead_; }
  // More than half of what it is to hold.
  bool has_plenty() const noexcept { return ready_.size() * 2 > ahead_; }
  void begin(Workshop& workshop);
  // Polls readable when the one that is being made has something to say; empty: none is made.
  const os::Fd& news() const noexcept { return reports_; }
  void hear();
  unsigned ahead() const noexcept { return ahead_; }
  // What a plan had no use for. The end of a detached mount takes its time: it comes later.
  void leave(std::vector<os::Fd> unused) { left_ = std::move(unused); }

 private:
  Result<Berth> start(Workshop& workshop);

  unsigned ahead_;
  // Of those that are ready.
  GroupNeeds needs_;
  std::int32_t landlock_abi_;
  std::deque<Berth> ready_;
  std::optional<Berth> making_;
  os::Fd reports_;  // of the one that is being made, or was, when nobody wants it any more
  std::vector<os::Fd> left_;
  bool failed_ = false;
};

}  // namespace cordon::launcher
