// SPDX-License-Identifier: Apache-2.0
// Which ids a sandbox gets: ranges of the floor, each lent to one sandbox at a time, or the
// caller's.
#pragma once

#include <cstdint>
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
  // `directory`: where launchers of this host keep their locks. `exhausted`: all are in use.
  static Result<LentRange> take(const Floor& floor, const os::Fd& directory);
  LentRange(LentRange&&) noexcept = default;
  LentRange& operator=(LentRange&&) = delete;
  ~LentRange();

  std::uint32_t first() const noexcept { return first_; }
  // Who holds a copy of it keeps the range lent: the node does, so that the launcher's death frees
  // no range in which a sandbox lives on.
  const os::Fd& lock() const noexcept { return lock_; }

 private:
  LentRange(std::uint32_t first, os::Fd directory, std::string name, os::Fd lock)
      : first_{first},
        directory_{std::move(directory)},
        name_{std::move(name)},
        lock_{std::move(lock)} {}

  std::uint32_t first_;
  os::Fd directory_;
  std::string name_;
  os::Fd lock_;
};

// Removes the locks that launchers which were killed left, where nobody holds them.
void reclaim_ranges(const os::Fd& directory);

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

// The sandbox's user namespace, a child of the launcher's.
Result<os::Fd> make_sandbox_namespace(const frame::LaunchPlan& plan, const LentRange* range,
                                      const HostIds& ids);

}  // namespace cordon::launcher
