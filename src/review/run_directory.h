// SPDX-License-Identifier: Apache-2.0
// The state that outlives a run: STATE/runs/<id>/ with run.json, lock, upper/ and work/.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "review/run_record.h"

namespace cordon::review {

struct NewRun {
  RunId id;
  std::vector<std::string> command;
  std::string workspace;  // absolute
  WallTime started;
  std::optional<WallTime> expires;
  OverlayMarks marks = OverlayMarks::user;
};

struct RunList {
  std::vector<RunRecord> runs;          // the one that started last comes first
  std::vector<std::string> unreadable;  // ids whose run.json cannot be read: left alone
};

// A run's directory. Only `remove` and `expire` ever delete one; both refuse while another holds
// its lock, which the owner of the sandbox keeps open as long as the sandbox lives.
class RunDirectory {
 public:
  // Makes the directory (0700), holds its lock, and writes run.json last. `upper` gets the mode,
  // and for root the owner, of the workspace, because they show as those of the overlay's root.
  static Result<RunDirectory> create(const std::string& state_root, const NewRun& run);
  static Result<RunDirectory> open(const std::string& state_root, const RunId& id);
  // An absent state root has no runs.
  static Result<RunList> list(const std::string& state_root);
  // Removes the runs whose `expires` is not after `now` and that nobody holds, and what removals
  // that were interrupted left. Gives the ids removed.
  static Result<std::vector<RunId>> expire(const std::string& state_root, WallTime now);

  const RunRecord& record() const noexcept { return record_; }
  const os::Fd& dir() const noexcept { return dir_; }
  // Replaces run.json in one step.
  Status save(RunRecord record);

  // Takes the lock, for as long as this object lives; `unavailable` while another has it.
  Status lock();
  // Another holds the lock: the sandbox lives, or another cordon is at work here.
  bool is_held_by_another() const;

  Result<os::Fd> open_upper() const;
  Result<os::Fd> open_work() const;
  // The workspace, if its path still leads to the same directory.
  Result<os::Fd> open_workspace() const;

  // Deletes it with its upper layer. Takes the lock first.
  Status remove() &&;

 private:
  RunDirectory(os::Fd runs, os::Fd dir, RunRecord record)
      : runs_{std::move(runs)}, dir_{std::move(dir)}, record_{std::move(record)} {}

  os::Fd runs_;
  os::Fd dir_;
  os::Fd lock_;
  RunRecord record_;
};

}  // namespace cordon::review
