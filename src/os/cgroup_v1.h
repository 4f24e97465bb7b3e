// SPDX-License-Identifier: Apache-2.0
// A control group of version 1: one directory per hierarchy, held together as one thing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "os/cgroup.h"
#include "os/cgroup_limits.h"
#include "os/fd.h"

namespace cordon::os {

// Where in one hierarchy the group goes.
struct CgroupV1Parent {
  std::vector<std::string> controllers;  // of the hierarchy: {"memory"}, {"cpu", "cpuacct"}
  std::shared_ptr<const Fd> dir;         // of the caller and of the groups made there
};

// Owns the directories: its end kills all that lives in them and removes them. The interface is
// Cgroup's, as far as version 1 can hold it.
class CgroupV1 {
 public:
  // Makes `name` in each hierarchy. A limit whose controller is in none of them is refused
  // (unavailable). After a failure nothing is left behind.
  static Result<CgroupV1> create(std::span<const CgroupV1Parent> parents, std::string name,
                                 const CgroupLimits& limits);
  // Takes over what a predecessor left, in those hierarchies where it is.
  static Result<CgroupV1> adopt(std::span<const CgroupV1Parent> parents, std::string name);

  CgroupV1(CgroupV1&&) noexcept = default;
  CgroupV1& operator=(CgroupV1&&) = delete;
  ~CgroupV1();

  // The directory that has the controller, or nullptr.
  const Fd* dir(std::string_view controller) const noexcept;
  const std::string& name() const noexcept { return name_; }

  Status set_limits(const CgroupLimits& limits) const;
  // Moves a process with all its threads into every hierarchy; 0 means the caller. clone3 cannot
  // start a child here: the child calls add(0) before anything else.
  Status add(pid_t pid) const;

  // Moves the calling thread, the only one of its process. A thousand times cheaper than add, which
  // waits until no process of the host is about to make a thread.
  Status enter() const;
  // Signals, round after round, until the group is empty or a bounded time is over (timeout).
  // Unlike Cgroup::kill it returns only when all are gone. With the freezer no fork can outrun it.
  Status kill() const;
  // `unavailable` without the freezer. Asks for it; events().frozen tells when it is done.
  Status freeze() const;
  Status thaw() const;

  Result<CgroupEvents> events() const;
  // In any of the hierarchies, each once.
  Result<std::vector<pid_t>> processes() const;
  CgroupUsage usage() const;

  // Kills, waits a bounded time for the end, removes.
  Status remove() &&;
  // Closes the descriptors and leaves the directories as they are.
  void leave() && noexcept { parts_.clear(); }

 private:
  struct Part {
    std::vector<std::string> controllers;
    std::shared_ptr<const Fd> parent;
    Fd dir;
  };
  explicit CgroupV1(std::string name) : name_{std::move(name)} {}
  Result<const Fd*> require(std::string_view controller) const;
  Status set_memory(const CgroupLimits& limits) const;
  Status set_io(const IoLimit& limit) const;
  Status set_frozen(std::string_view state) const;
  Status signal_members(int signal) const;
  Status kill_and_remove();

  std::string name_;
  std::vector<Part> parts_;
};

}  // namespace cordon::os
