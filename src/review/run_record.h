// SPDX-License-Identifier: Apache-2.0
// What a run leaves in its run.json for the verbs that review it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "base/result.h"

namespace cordon::review {

// Where overlayfs keeps its marks: trusted.overlay.*, or user.overlay.* when it was mounted with
// `userxattr`. Only the one that the mount used is believed: the other is free for the sandbox to
// write.
enum class OverlayMarks : std::uint8_t { trusted, user };
std::string_view to_string(OverlayMarks marks) noexcept;

struct RunRecord {
  RunId id;
  std::vector<std::string> command;
  std::string workspace;     // the directory's absolute path on the host when the run began
  std::uint64_t device = 0;  // and its identity: another directory at that path is not it
  std::uint64_t inode = 0;
  WallTime started;
  std::optional<WallTime> ended;
  std::string verdict;              // one line, empty until it ended
  std::optional<WallTime> expires;  // empty: kept until apply or discard
  OverlayMarks marks = OverlayMarks::user;

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

std::string to_json(const RunRecord& record);
// Unknown keys are ignored: an older cordon may read what a newer one wrote.
Result<RunRecord> parse_run_record(std::string_view text);

}  // namespace cordon::review
