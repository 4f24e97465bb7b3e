// SPDX-License-Identifier: Apache-2.0
#include "review/compare.h"

#include "os/directory.h"
#include "review/flags.h"
#include "review/lower_tree.h"

namespace cordon::review {
namespace {

using os::FileType;

std::string_view name_of(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
}

Result<ChangeKind> kind_of_file(const Entry& upper, const Entry& lower, bool& equal) {
  equal = false;
  auto same = same_contents(upper, lower);
  // What we may not read counts as modified; apply tells why it cannot copy it.
  if (!same || !*same) return ChangeKind::modified;
  equal = upper.status.mode == lower.status.mode;
  return ChangeKind::mode_changed;
}

// Links and special files: the same target, the same device number.
Result<bool> same_node(const Pair& pair, const std::string& target) {
  const os::FileStatus& upper = pair.upper.status;
  if (upper.type == FileType::symlink) {
    TRY(const std::string old_target, os::readlinkat(pair.lower->node, ""));
    return old_target == target;
  }
  return upper.device_number == pair.lower->status.device_number &&
         upper.mode == pair.lower->status.mode;
}

// Empty: no change.
Result<std::optional<ChangeKind>> kind_of(const Pair& pair, const std::string& target) {
  using Kind = std::optional<ChangeKind>;
  if (pair.lower == nullptr) return Kind{ChangeKind::added};
  const os::FileStatus& upper = pair.upper.status;
  if (upper.type != pair.lower->status.type) return Kind{ChangeKind::type_changed};
  if (upper.type == FileType::directory) {
    // Set-id and sticky bits of directories are never applied, so they are no change either.
    const bool same = ((upper.mode ^ pair.lower->status.mode) & 0777U) == 0;
    return same ? Kind{} : Kind{ChangeKind::mode_changed};
  }
  if (upper.type == FileType::regular) {
    bool equal = false;
    TRY(const ChangeKind kind, kind_of_file(pair.upper, *pair.lower, equal));
    return equal ? Kind{} : Kind{kind};
  }
  TRY(const bool same, same_node(pair, target));
  return same ? Kind{} : Kind{ChangeKind::modified};
}

std::optional<std::string> text_of(const Entry* entry) {
  if (entry == nullptr || entry->status.type != FileType::regular) return std::nullopt;
  auto text = read_text(*entry);
  if (!text) return std::nullopt;
  return *std::move(text);
}

void add_contents(const Pair& pair, Change& change) {
  const auto after = text_of(&pair.upper);
  const bool was_file = pair.lower != nullptr && pair.lower->status.type == FileType::regular;
  const auto before = was_file ? text_of(pair.lower) : std::optional<std::string>{""};
  if (after && before && change.kind != ChangeKind::mode_changed) {
    change.lines = count_changes(diff_lines(*before, *after));
  }
  const bool had_text = was_file && before;
  change.flags = flags_of(change, had_text ? before : std::nullopt, after);
}

bool exists(const Pair& pair, const std::string& name) {
  if (const auto upper = find_entry(pair.upper_dir, name); upper && *upper) return true;
  if (!pair.lower_dir) return false;
  const auto lower = find_entry(pair.lower_dir, name);
  return lower && *lower;
}

// git takes any directory with these for a repository and obeys its config.
void flag_bare_repository(const Pair& pair, Change& change) {
  const std::string_view name = name_of(pair.path);
  if (name != "HEAD" && name != "config") return;
  for (const char* const part : {"HEAD", "config", "objects", "refs"}) {
    if (!exists(pair, part)) return;
  }
  const Flag flag{"git_config", "makes its directory a git repository, whose config git obeys"};
  if (change.flags.empty()) change.flags.push_back(flag);
}

bool is_special(FileType type) {
  return type != FileType::regular && type != FileType::directory && type != FileType::symlink;
}

bool is_newer(const os::FileStatus& lower, const ScanOptions& options) {
  return lower.changed > options.started;
}

}  // namespace

Result<std::optional<Change>> compare(const Pair& pair, const ScanOptions& options) {
  const os::FileStatus& upper = pair.upper.status;
  std::string target;
  if (upper.type == FileType::symlink) {
    TRY(target, os::readlinkat(pair.upper.node, ""));
  }
  TRY(const auto kind, kind_of(pair, target));
  if (!kind) return std::optional<Change>{};
  Change change{.path = pair.path,
                .kind = *kind,
                .type = upper.type,
                .size = upper.size,
                .mode = upper.mode,
                .target = std::move(target)};
  if (pair.lower != nullptr) {
    change.lower = pair.lower->status;
    const bool lower_is_directory = pair.lower->status.type == FileType::directory;
    // A directory's own time moves with every entry, also those that apply puts there.
    if (!lower_is_directory) change.lower_is_newer = is_newer(pair.lower->status, options);
    if (lower_is_directory && change.kind == ChangeKind::type_changed) {
      const Change gone = deletion_of(*pair.lower, options);
      change.entries = gone.entries;
      change.lower_is_newer = gone.lower_is_newer;
    }
  }
  if (is_special(upper.type)) {
    change.obstacle = "a " + std::string{to_string(upper.type)} + " is never applied";
  }
  add_contents(pair, change);
  flag_bare_repository(pair, change);
  return std::optional{std::move(change)};
}

Change deletion_of(const Entry& lower, const ScanOptions& options) {
  Change change{.kind = ChangeKind::deleted,
                .type = lower.status.type,
                .size = lower.status.size,
                .mode = lower.status.mode,
                .lower = lower.status,
                .lower_is_newer = is_newer(lower.status, options)};
  if (lower.status.type == FileType::directory) {
    const TreeSize size = measure(lower, options.limits.entries, options.limits.depth);
    change.entries = size.entries;
    change.lower_is_newer = size.newest > options.started;
    if (!size.whole) {
      change.flags.push_back({"not_counted", "holds more than could be counted"});
    }
  }
  return change;
}

}  // namespace cordon::review
