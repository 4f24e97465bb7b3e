// SPDX-License-Identifier: Apache-2.0
// Compares the upper layer of a run with its workspace.
#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"
#include "review/change.h"
#include "review/run_record.h"

namespace cordon::review {

struct ScanLimits {
  std::size_t entries = 1'000'000;  // of the upper layer, and of deletions
  std::size_t depth = 200;          // directories above an entry; two descriptors are kept for each
};

struct ScanOptions {
  OverlayMarks marks = OverlayMarks::user;
  WallTime started;  // what the workspace got later, the run has neither seen nor hidden
  ScanLimits limits;
};

// Every path that differs, parents before what they hold, each directory's names in byte order.
// Reads both trees by descriptor and one name at a time: no link is followed on either side. More
// entries than the limit is an error (exhausted): a list with a hole would hide something. What is
// too deep or cannot be opened is listed with its obstacle, as one change, and not entered.
Result<std::vector<Change>> scan(const os::Fd& upper, const os::Fd& workspace,
                                 const ScanOptions& options);

}  // namespace cordon::review
