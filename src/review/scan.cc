// SPDX-License-Identifier: Apache-2.0
// A walk of the upper layer with a stack of its own: what hostile hands nested costs memory of
// ours, never our call stack.
#include "review/scan.h"

#include <algorithm>
#include <string>

#include "os/directory.h"
#include "os/file.h"
#include "review/compare.h"
#include "review/printable.h"
#include "review/tree_entry.h"

namespace cordon::review {
namespace {

// A directory that is being looked through.
struct ScanLevel {
  std::string path;  // empty for the root, else with a slash at its end
  os::Fd upper;
  os::Fd lower;         // empty: there is nothing below to compare with
  bool opaque = false;  // the lower directory's entries are all hidden
  std::vector<std::string> names;
  std::size_t next = 0;
};

class Scanner {
 public:
  explicit Scanner(const ScanOptions& options) : options_{options} {}

  Status enter(std::string path, os::Fd upper, os::Fd lower, bool opaque) {
    TRY(auto names, os::list_directory(upper, options_.limits.entries - entries_));
    entries_ += names.size();
    std::ranges::sort(names);
    if (opaque && lower) TRY_DO(list_hidden(path, lower, names));
    levels_.push_back({.path = std::move(path),
                       .upper = std::move(upper),
                       .lower = std::move(lower),
                       .opaque = opaque,
                       .names = std::move(names)});
    return {};
  }

  Result<std::vector<Change>> run() {
    while (!levels_.empty()) {
      ScanLevel& level = levels_.back();
      if (level.next == level.names.size()) {
        levels_.pop_back();
        continue;
      }
      const std::string name = level.names[level.next++];
      const std::string path = level.path + name;
      auto done = look_at(level, name);
      if (!done) return std::move(done).error().with(printable(path));
    }
    return std::move(changes_);
  }

 private:
  // Before: `names`, those of the upper directory, are sorted.
  Status list_hidden(const std::string& path, const os::Fd& lower,
                     const std::vector<std::string>& names) {
    TRY(auto hidden, os::list_directory(lower, options_.limits.entries - entries_));
    std::ranges::sort(hidden);
    for (const std::string& name : hidden) {
      if (std::ranges::binary_search(names, name)) continue;
      TRY(const auto entry, find_entry(lower, name));
      // What was born after the run began was never hidden by it: the user made it, or apply did.
      if (!entry || entry->status.born > options_.started) continue;
      ++entries_;
      push(deletion_of(*entry, options_), path + name, true);
    }
    return {};
  }

  Status look_at(const ScanLevel& level, const std::string& name) {
    TRY(const UpperEntry upper, read_upper(level.upper, name, options_.marks));
    std::optional<Entry> lower;
    if (level.lower) {
      TRY(lower, find_entry(level.lower, name));
    }
    std::string path = level.path + name;
    if (upper.whiteout) {
      if (lower) push(deletion_of(*lower, options_), path, false);
      return {};
    }
    TRY(auto change, compare({.upper = upper.entry,
                              .lower = lower ? &*lower : nullptr,
                              .upper_dir = level.upper,
                              .lower_dir = level.lower,
                              .path = path},
                             options_));
    if (upper.entry.status.type != os::FileType::directory) {
      if (change) push(*std::move(change), path, level.opaque);
      return {};
    }
    auto inside = open_directory(upper.entry);
    if (!inside && !change) change = unseen(upper.entry, lower);
    if (!inside && change) change->obstacle = inside.error().text();
    if (change) push(*std::move(change), path, level.opaque);
    if (!inside) return {};
    const bool merged = lower && lower->status.type == os::FileType::directory;
    os::Fd lower_inside;
    if (merged) {
      TRY(lower_inside, open_contents(*lower));
    }
    // `level` is not to be used behind this: the stack may move.
    return enter(path + "/", *std::move(inside), std::move(lower_inside),
                 level.opaque || upper.opaque);
  }

  // Errors are obstacles: what could not be looked into is told, and never applied.
  Result<os::Fd> open_directory(const Entry& directory) const {
    if (levels_.size() >= options_.limits.depth) {
      return Error{Errc::exhausted, "nested too deeply to be reviewed"};
    }
    auto inside = open_contents(directory);
    if (!inside) return Error{Errc::denied, "cannot be looked into: " + inside.error().text()};
    return inside;
  }

  static Change unseen(const Entry& upper, const std::optional<Entry>& lower) {
    Change change{
        .kind = ChangeKind::modified, .type = upper.status.type, .mode = upper.status.mode};
    if (lower) change.lower = lower->status;
    return change;
  }

  void push(Change change, const std::string& path, bool hidden_below) {
    change.path = path;
    change.hidden_below = hidden_below;
    if (!change.obstacle.empty()) change.flags.push_back({"not_applied", change.obstacle});
    changes_.push_back(std::move(change));
  }

  ScanOptions options_;
  std::size_t entries_ = 0;
  std::vector<ScanLevel> levels_;
  std::vector<Change> changes_;
};

}  // namespace

Result<std::vector<Change>> scan(const os::Fd& upper, const os::Fd& workspace,
                                 const ScanOptions& options) {
  // Positions in a directory belong to the open file: the caller's are left alone.
  TRY(os::Fd upper_root, os::openat(upper, ".", O_RDONLY | O_DIRECTORY));
  TRY(os::Fd lower_root, os::openat(workspace, ".", O_RDONLY | O_DIRECTORY));
  Scanner scanner{options};
  TRY_DO(scanner.enter("", std::move(upper_root), std::move(lower_root), false));
  return scanner.run();
}

}  // namespace cordon::review
