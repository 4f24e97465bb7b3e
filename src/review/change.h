// SPDX-License-Identifier: Apache-2.0
// What a run did to its workspace, one value per path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/file_status.h"
#include "review/line_diff.h"

namespace cordon::review {

enum class ChangeKind : std::uint8_t {
  deleted,
  type_changed,  // a file where a directory was, a link where a file was
  modified,
  mode_changed,  // the permission bits and nothing else
  added,
};
std::string_view to_string(ChangeKind kind) noexcept;
char letter_of(ChangeKind kind) noexcept;  // D T M P A

// Why a person should look twice. `code` is for programs and stable.
struct Flag {
  std::string code;
  std::string reason;  // bytes of others in it are escaped
  friend bool operator==(const Flag&, const Flag&) = default;
};

struct Change {
  std::string path;  // relative to the workspace; bytes, to be escaped where shown
  ChangeKind kind = ChangeKind::modified;
  os::FileType type = os::FileType::regular;  // as it is now; of a deletion, as it was
  std::uint64_t size = 0;
  std::uint32_t mode = 0;
  std::string target;                   // of a link
  std::optional<LineCount> lines;       // of a text of bounded size
  std::uint64_t entries = 0;            // what a deleted directory held
  std::optional<os::FileStatus> lower;  // the workspace's own, when it has one
  bool lower_is_newer = false;          // it changed after the run began
  bool hidden_below = false;            // inside a directory that hides all of the lower one
  std::string obstacle;                 // why it cannot be applied; empty: it can
  std::vector<Flag> flags;
};

struct NotApplied {
  std::string path;
  std::string reason;
  bool conflict = false;  // the workspace's own changed after the run began: `force` overrides
};

}  // namespace cordon::review
