// SPDX-License-Identifier: Apache-2.0
// One entry of the upper layer against the workspace's entry of the same name.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "review/change.h"
#include "review/scan.h"
#include "review/tree_entry.h"

namespace cordon::review {

struct Pair {
  const Entry& upper;
  const Entry* lower;  // null: the workspace has none
  const os::Fd& upper_dir;
  const os::Fd& lower_dir;  // may be empty
  const std::string& path;
};

// Empty when they are the same: a file that was only opened for writing is in the upper layer too.
// Before: `upper` is no whiteout. `path` and `hidden_below` of the change are left to the caller.
Result<std::optional<Change>> compare(const Pair& pair, const ScanOptions& options);

// The workspace's entry is gone in the run's view.
Change deletion_of(const Entry& lower, const ScanOptions& options);

}  // namespace cordon::review
