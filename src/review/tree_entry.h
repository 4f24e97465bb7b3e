// SPDX-License-Identifier: Apache-2.0
// One entry of the upper layer or of the workspace, held so that nobody can exchange it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "os/file_status.h"
#include "review/run_record.h"

namespace cordon::review {

// An entry by descriptor: whatever happens to its name, status and contents are of one file.
struct Entry {
  os::Fd node;  // O_PATH
  os::FileStatus status;
};

// Empty when there is no such entry. Follows no link; `name` is one component.
Result<std::optional<Entry>> find_entry(const os::Fd& dir, const std::string& name);

struct UpperEntry {
  Entry entry;
  bool whiteout = false;  // stands for "the lower one is gone"
  bool opaque = false;    // a directory that hides all of the lower one
};

// Reads the marks of overlayfs. Refuses (invalid) the ones of features that our mounts switch off
// and that would make the entry stand for another file: redirect and metacopy.
Result<UpperEntry> read_upper(const os::Fd& dir, const std::string& name, OverlayMarks marks);

// For reading; only regular files and directories. Opening anything else could wait or act.
Result<os::Fd> open_contents(const Entry& entry);

// All of a regular file that is text (without a zero byte) of at most 1 MiB; empty otherwise.
Result<std::optional<std::string>> read_text(const Entry& entry);

// False also where both are too large to be compared (256 MiB).
Result<bool> same_contents(const Entry& a, const Entry& b);

}  // namespace cordon::review
