// SPDX-License-Identifier: Apache-2.0
#include "review/apply.h"

#include <algorithm>
#include <iterator>
#include <unistd.h>
#include <unordered_set>

#include "os/directory.h"
#include "review/place.h"
#include "review/printable.h"

namespace cordon::review {
namespace {

bool is_at_or_below(const std::string& path, const std::string& top) {
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

bool is_new_directory(const Change& change) {
  return change.type == os::FileType::directory &&
         (change.kind == ChangeKind::added || change.kind == ChangeKind::type_changed);
}

Status require_all_match(const std::vector<Change>& changes, const Selection& selection) {
  for (const std::string& path : selection.paths) {
    const auto touches = [&](const Change& change) { return is_at_or_below(change.path, path); };
    if (std::ranges::none_of(changes, touches)) {
      return Error{Errc::not_found, printable(path) + ": nothing changed there"};
    }
  }
  return {};
}

// Why a change is not to be touched, if so.
std::optional<NotApplied> reason_against(const Change& change, bool force) {
  if (!change.obstacle.empty()) return NotApplied{change.path, change.obstacle};
  if (!change.lower_is_newer || force) return std::nullopt;
  return NotApplied{.path = change.path,
                    .reason = "changed in the workspace after the run began",
                    .conflict = true};
}

void put_all(Placer& placer, const std::vector<Change>& changes, bool deletions, bool force,
             ApplyReport& report) {
  for (const Change& change : changes) {
    if ((change.kind == ChangeKind::deleted) != deletions) continue;
    if (auto against = reason_against(change, force)) {
      report.left.push_back(*std::move(against));
    } else if (const Status put = placer.put(change); !put) {
      report.left.push_back({.path = change.path, .reason = put.error().text()});
    } else {
      report.applied.push_back(change);
    }
  }
}

// Takes what was applied out of the upper layer. Directories stay until the run goes: they compare
// equal. Before: all of it is on disk.
Status settle(const os::Fd& upper, const std::vector<Change>& applied) {
  for (const Change& change : applied) {
    const bool stays = change.type == os::FileType::directory && change.kind != ChangeKind::deleted;
    // Inside an opaque directory a file that is missing above counts as deleted, unless the one
    // below is new. After a change of mode it is not new: it stays, and compares equal.
    const bool would_read_as_deletion =
        change.hidden_below && change.kind == ChangeKind::mode_changed;
    if (stays || would_read_as_deletion) continue;
    const auto place = open_place(upper, change.path);
    if (!place) {
      // A deletion by an opaque directory has no entry of its own.
      if (change.kind == ChangeKind::deleted) continue;
      return Error{place.error()};
    }
    auto gone = os::unlinkat(place->dir, place->name.c_str());
    if (!gone && gone.error().code() != Errc::not_found) return gone;
  }
  return {};
}

std::optional<Owner> owner_to_give(const os::FileStatus& workspace) {
  if (::geteuid() != 0) return std::nullopt;
  return Owner{.uid = workspace.uid, .gid = workspace.gid};
}

}  // namespace

Result<std::vector<Change>> select(std::vector<Change> changes, const Selection& selection) {
  if (selection.all) return changes;
  TRY_DO(require_all_match(changes, selection));
  const auto named = [&](const Change& change) {
    return std::ranges::any_of(selection.paths, [&](const std::string& path) {
      return is_at_or_below(change.path, path);
    });
  };
  std::unordered_set<std::string> above;
  for (const Change& change : changes) {
    if (!named(change)) continue;
    for (auto slash = change.path.find('/'); slash != std::string::npos;
         slash = change.path.find('/', slash + 1)) {
      above.insert(change.path.substr(0, slash));
    }
  }
  std::erase_if(changes, [&](const Change& change) {
    return !named(change) && !(is_new_directory(change) && above.contains(change.path));
  });
  return changes;
}

Result<ApplyReport> apply(RunDirectory run, const ApplyOptions& options) {
  TRY_DO(run.lock());
  TRY(const os::Fd upper, run.open_upper());
  TRY(const os::Fd workspace, run.open_workspace());
  TRY(const auto status, os::statx(workspace));
  const ScanOptions how{
      .marks = run.record().marks, .started = run.record().started, .limits = options.limits};
  TRY(auto changes, scan(upper, workspace, how));
  TRY(changes, select(std::move(changes), options.selection));

  ApplyReport report;
  Placer placer{upper, workspace, owner_to_give(status)};
  put_all(placer, changes, false, options.force, report);
  put_all(placer, changes, true, options.force, report);
  std::ranges::move(placer.finish(), std::back_inserter(report.left));
  TRY_DO(os::syncfs(workspace));
  TRY_DO(settle(upper, report.applied));

  TRY(const auto rest, scan(upper, workspace, how));
  report.remaining = rest.size();
  report.removed = rest.empty();
  if (report.removed) TRY_DO(std::move(run).remove());
  return report;
}

}  // namespace cordon::review
