// SPDX-License-Identifier: Apache-2.0
// How gladly the kernel takes a process when memory ends: a workload more so than pid 1, which has
// the buffer of record.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::guest {

// The calling process's own. Its file can be opened only while the process is open to others: where
// a workload with the same id could look, a spawner takes the score along from pid 1, by the fork.
class OomScore {
 public:
  // Leaves the calling process closed to others. Before: no workload with its id runs.
  static Result<OomScore> open();

  // To a workload's, until lower(); whoever is forked has the same.
  Status raise() const;
  Status lower() const;

 private:
  OomScore(os::Fd file, int own) : file_{std::move(file)}, own_{own} {}
  os::Fd file_;
  int own_ = 0;
};

}  // namespace cordon::guest
