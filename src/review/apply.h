// SPDX-License-Identifier: Apache-2.0
// Brings reviewed changes from a run's upper layer into its workspace.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "review/change.h"
#include "review/run_directory.h"
#include "review/scan.h"

namespace cordon::review {

struct Selection {
  bool all = false;
  // Files or directories, relative to the workspace, without `.`, `..` or a slash at the end.
  std::vector<std::string> paths;
};

// What a selection takes: the paths named, all below them, and the new directories above them. A
// path under which nothing changed is an error (not_found) that names it.
Result<std::vector<Change>> select(std::vector<Change> changes, const Selection& selection);

struct ApplyReport {
  std::vector<Change> applied;
  std::vector<NotApplied> left;
  std::size_t remaining = 0;  // changes that the run still holds
  bool removed = false;       // none were left, and the run's directory went with them
};

struct ApplyOptions {
  Selection selection;
  bool force = false;
  ScanLimits limits;
};

// Refused (unavailable) while the run lives. Each file is written beside its place and renamed into
// it; deletions come last. Links are copied as links and followed nowhere; permission bits are kept
// without set-id and sticky; attributes are not kept; owners are those of the workspace when root
// applies. Devices, fifos and sockets are left. What was applied leaves the upper layer once it is
// on disk. A failure over one path is in the report and does not stop the others.
Result<ApplyReport> apply(RunDirectory run, const ApplyOptions& options);

}  // namespace cordon::review
