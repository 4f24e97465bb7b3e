// SPDX-License-Identifier: Apache-2.0
// A control group of version 2: made, limited, frozen, killed and removed as one thing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "os/cgroup_limits.h"
#include "os/fd.h"

namespace cordon::os {

struct CgroupEvents {
  bool populated = false;  // a process lives in it or below
  bool frozen = false;     // all of them have stopped
};

// Owns the group: its end kills all that lives in it and removes it.
class Cgroup {
 public:
  // Makes `name` (one component) below `parent` and sets `limits`. `exists`: there is such a group
  // already. After a failure nothing is left behind.
  static Result<Cgroup> create(const Fd& parent, std::string name, const CgroupLimits& limits);
  // Takes over a group that a predecessor left.
  static Result<Cgroup> adopt(const Fd& parent, std::string name);

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();

  // For clone3 (CLONE_INTO_CGROUP), for BPF attachment, for files that no function here names.
  const Fd& dir() const noexcept { return dir_; }
  const std::string& name() const noexcept { return name_; }

  // Only what is given is changed.
  Status set_limits(const CgroupLimits& limits) const;
  // Moves a process with all its threads in; 0 means the caller.
  Status add(pid_t pid) const;

  // SIGKILL to all, also below, without a race against fork. They are dying when it returns, not
  // dead.
  Status kill() const;
  // Asks for it; events().frozen tells when it is done.
  Status freeze() const;
  Status thaw() const;

  Result<CgroupEvents> events() const;
  Result<std::vector<pid_t>> processes() const;
  CgroupUsage usage() const;

  // Kills, waits a bounded time for the end, removes. The destructor does the same and tells
  // nobody how it went.
  Status remove() &&;
  // Closes the descriptors and leaves the group as it is: who knows its name adopts it later.
  void leave() && noexcept;

 private:
  Cgroup(Fd parent, Fd dir, std::string name);
  Status kill_and_remove();
  Fd parent_;
  Fd dir_;
  std::string name_;
};

// Gives the groups below `parent` these controllers. Refused (exists, EBUSY) while a process lives
// in `parent` itself, unless it is the root.
Status enable_controllers(const Fd& parent, std::span<const std::string_view> controllers);

// What `group` may hand on to its children.
Result<std::vector<std::string>> available_controllers(const Fd& group);

}  // namespace cordon::os
