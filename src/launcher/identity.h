// SPDX-License-Identifier: Apache-2.0
// Which ids a sandbox gets: ranges of the floor, each lent to one sandbox at a time, or the
// caller's.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "launcher/floor.h"
#include "launcher/sources.h"
#include "os/fd.h"

namespace cordon::launcher {

// A range that nobody else uses while this lives: other launchers of this host keep away from it.
class LentRange {
 public:
  LentRange(LentRange&&) noexcept = default;
  LentRange& operator=(LentRange&&) = delete;
  ~LentRange();

  std::uint32_t first() const noexcept { return first_; }
  // A lock of the node's own: it keeps the range from others when the launcher dies and the sandbox
  // lives on. What the node does with it does not release ours.
  Result<os::Fd> second_lock() const;

 private:
  friend class RangeLender;
  struct Shelf;
  LentRange(std::uint32_t first, std::shared_ptr<Shelf> shelf, os::Fd lock)
      : first_{first}, shelf_{std::move(shelf)}, lock_{std::move(lock)} {}

  std::uint32_t first_;
  // Of the lender and of all that it has lent: each takes its lock's name away again.
  std::shared_ptr<Shelf> shelf_;
  os::Fd lock_;
};

// A range with the user namespace that maps it, both used once.
struct LentIds {
  LentRange range;
  os::Fd user_namespace;
};

class RangeLender {
 public:
  // `directory`: where launchers of this host keep their locks; empty where there are no ranges.
  // Removes the locks that launchers which were killed left, where nobody holds them.
  // `ahead`: how many ranges to hold with their namespaces made, when nobody waits; `refills`: also
  // after one was taken.
  RangeLender(const Floor& floor, os::Fd directory, unsigned ahead, bool refills);
  RangeLender(RangeLender&&) noexcept = default;

  // `exhausted`: all are in use.
  Result<LentIds> take();

  // Whether there is something to do when nobody waits; false after a failure, until the next take.
  bool wants_more() const noexcept { return !failed_ && ready_.size() < ahead_; }
  // Makes one.
  void refill();

 private:
  Result<LentRange> lend();
  Result<LentIds> make();

  std::uint32_t first_id_;
  std::uint32_t ranges_;
  std::uint32_t next_;  // the search begins behind the last one, not at the front every time
  std::shared_ptr<LentRange::Shelf> shelf_;
  unsigned ahead_;
  bool refills_;
  std::deque<LentIds> ready_;
  bool failed_ = false;
};

// Who the launcher is itself, in its own user namespace.
struct OwnIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  // The first subordinate id, where one is mapped: pid 1's.
  std::optional<std::uint32_t> spare_uid;
  std::optional<std::uint32_t> spare_gid;
  bool may_set_groups = true;
};

// The ids of a sandbox as the launcher sees them.
HostIds host_ids(const frame::LaunchPlan& plan, const LentRange* range, const OwnIds& own);

// The user namespace, a child of the launcher's, of a sandbox that has the caller's ids.
Result<os::Fd> make_caller_namespace(const frame::LaunchPlan& plan, const HostIds& ids);

}  // namespace cordon::launcher
