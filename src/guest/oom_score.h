// SPDX-License-Identifier: Apache-2.0
// How gladly the kernel takes a process when memory ends: a workload more so than pid 1, which has
// the buffer of record.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

// Pid 1's own, which a child takes along from a fork. A spawner cannot raise its own: the file
// belongs to it only while it is open to others, a workload with the same id among them.
class OomScore {
 public:
  // Leaves the calling process closed to others. Before: no workload runs.
  static Result<OomScore> open();

  // Until lower() a child that is forked has more than we have now.
  Status raise() const;
  Status lower() const;

 private:
  OomScore(os::Fd file, int own) : file_{std::move(file)}, own_{own} {}
  os::Fd file_;
  int own_ = 0;
};

}  // namespace cordon::guest
