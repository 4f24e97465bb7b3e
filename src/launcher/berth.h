// SPDX-License-Identifier: Apache-2.0
// Sandboxes made ahead as far as no plan is needed: a pid 1 behind all its fences, on bare ground.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "launcher/expected_plans.h"
#include "launcher/groups.h"
#include "launcher/identity.h"
#include "launcher/sources.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

struct Workshop;

// Of what a first process says on its way down.
inline constexpr std::size_t kLongestReport = 4096;

// A step failed; what had been made is gone again.
struct LaunchFailure {
  std::string step;
  Error error;
};

// Its pid 1 waits for its setup. The tree has /dev and /proc and nothing of the host; the launcher
// furnishes it (furnish_berth) before pid 1 is told anything.
struct Berth {
  LentRange range;
  SandboxGroups groups;
  os::Child init;
  os::Fd control;           // the host's end of pid 1's stream
  os::Fd user_namespace;    // of its ids
  std::vector<os::Fd> own;  // directories of its own disk, as detached mounts
  // What it was furnished as ahead; nothing: it stands on bare ground.
  std::shared_ptr<const Known> furnished{};
};

// Puts the plan's limits, tree, disk and host name into a berth and gives its pid 1 the setup. The
// caller visits the berth's namespaces for that and is back in its own when this returns; where it
// could not come back it ends. Before: the plan fits, and no process of the berth has run anything
// but cordon-init.
std::optional<LaunchFailure> furnish_berth(Berth& berth, const JudgedPlan& plan,
                                           Workshop& workshop);

// Each berth is used once. One is made at a time, beside whatever else goes on.
class BerthPool {
 public:
  // `ahead`: how many to hold; 0: none, every sandbox is made when it is asked for. `landlock_abi`:
  // what the first plan will want, most likely.
  BerthPool(unsigned ahead, std::int32_t landlock_abi)
      : ahead_{ahead}, landlock_abi_{landlock_abi} {}

  // One that is furnished for such a plan, or on bare ground. None where none is ready, or the plan
  // wants what a berth does not have: an engine, a network, the caller's ids, capabilities, pins, a
  // disk image, a workspace of the host, many directories.
  std::optional<Berth> take(const JudgedPlan& plan, const FloorSources& sources);

  // For one whose ids another sandbox needs. False: there is none.
  bool give_up_one();

  // Whether there is something to do when nobody waits; false after a failure, until the next take.
  bool wants_more() const noexcept { return !failed_ && !reports_ && ready_.size() < ahead_; }
  // More than half of what it is to hold.
  bool has_plenty() const noexcept { return ready_.size() * 2 > ahead_; }
  // Fewer than a quarter, and none is being made.
  bool is_short() const noexcept { return wants_more() && ready_.size() * 4 < ahead_; }
  // Whether one that is ready would better be furnished for a plan that comes again and again.
  bool wants_furniture() const noexcept { return to_furnish() != nullptr; }
  void furnish_one(Workshop& workshop);
  void begin(Workshop& workshop);
  // Polls readable when the one that is being made has something to say; empty: none is made.
  const os::Fd& news() const noexcept { return reports_; }
  void hear();
  unsigned ahead() const noexcept { return ahead_; }
  // What a plan had no use for. The end of a detached mount takes its time: it comes later.
  void leave(std::vector<os::Fd> unused) { left_ = std::move(unused); }

 private:
  Result<Berth> start(Workshop& workshop);
  void forget_all();
  // Ends what was furnished for plans that nobody expects any more.
  void drop_unexpected();
  std::optional<Berth> take_first(const Known* furnished);
  std::size_t count(const Known* furnished) const noexcept;
  // For whom the next is to be furnished; nothing: for nobody.
  std::shared_ptr<const Known> to_furnish() const noexcept;

  unsigned ahead_;
  // Of those that are ready.
  GroupNeeds needs_;
  std::int32_t landlock_abi_;
  std::list<Berth> ready_;
  ExpectedPlans expected_;
  std::optional<Berth> making_;
  os::Fd reports_;  // of the one that is being made, or was, when nobody wants it any more
  std::vector<os::Fd> left_;
  bool failed_ = false;
};

}  // namespace cordon::launcher
