// SPDX-License-Identifier: Apache-2.0
#include "review/patch.h"

#include <fmt/format.h>

#include "os/directory.h"
#include "review/line_diff.h"
#include "review/place.h"
#include "review/printable.h"
#include "review/tree_entry.h"

namespace cordon::review {
namespace {

struct Side {
  bool exists = false;
  std::uint64_t size = 0;
  std::optional<std::string> text;  // of a link: its target
};

Result<Side> read_side(const os::Fd& root, const std::string& path) {
  TRY(const Place place, open_place(root, path));
  TRY(const auto entry, find_entry(place.dir, place.name));
  if (!entry) return Side{};
  Side side{.exists = true, .size = entry->status.size};
  if (entry->status.type == os::FileType::symlink) {
    TRY(side.text, os::readlinkat(entry->node, ""));
    return side;
  }
  TRY(side.text, read_text(*entry));
  return side;
}

std::string size_of(const Side& side) {
  return side.exists ? fmt::format("{} bytes", side.size) : "nothing";
}

}  // namespace

Result<std::string> patch(const Change& change, const os::Fd& upper, const os::Fd& workspace) {
  Side before;
  Side after;
  if (change.lower) {
    TRY(before, read_side(workspace, change.path));
  }
  if (change.kind != ChangeKind::deleted) {
    TRY(after, read_side(upper, change.path));
  }
  const std::string shown = printable(change.path);
  std::string text = fmt::format("--- {}\n+++ {}\n", before.exists ? "a/" + shown : "/dev/null",
                                 after.exists ? "b/" + shown : "/dev/null");
  if (change.lower && change.kind != ChangeKind::deleted && change.lower->mode != change.mode) {
    text += fmt::format("mode {:04o} -> {:04o}\n", change.lower->mode, change.mode);
  }
  if ((before.exists && !before.text) || (after.exists && !after.text)) {
    return text + fmt::format("not shown as text: {} -> {}\n", size_of(before), size_of(after));
  }
  return text + unified_hunks(diff_lines(before.text.value_or(""), after.text.value_or("")));
}

}  // namespace cordon::review
