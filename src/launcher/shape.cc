// SPDX-License-Identifier: Apache-2.0
#include "launcher/shape.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

namespace cordon::launcher {

std::optional<Shape> Shape::of(const JudgedPlan& plan) {
  if (plan->workspace.kind != frame::WorkspaceKind::own_disk ||
      std::ranges::any_of(plan->binds, &frame::Bind::writable)) {
    return std::nullopt;
  }
  frame::LaunchPlan bare = *plan;
  bare.id.clear();
  bare.tenant.clear();
  return Shape{frame::encode(bare)};
}

void SourceMarks::add(const std::string& path, bool is_root, const FloorSources& floor) {
  Mark& mark = marks_.emplace_back();
  const auto opened = floor.open_plain(path, O_PATH | O_NOFOLLOW);
  struct stat now{};
  if (!opened || ::fstat(opened->get(), &now) != 0) return;
  mark.device = now.st_dev;
  mark.inode = now.st_ino;
  if (!is_root && !S_ISLNK(now.st_mode)) return;
  mark.seconds = now.st_ctim.tv_sec;
  mark.nanoseconds = now.st_ctim.tv_nsec;
}

SourceMarks SourceMarks::of(const frame::LaunchPlan& plan, const FloorSources& floor) {
  SourceMarks all;
  all.marks_.reserve(plan.binds.size() + 1);
  if (plan.root != frame::RootSource::host) all.add(plan.root_path, true, floor);
  for (const frame::Bind& bind : plan.binds) all.add(bind.source, false, floor);
  return all;
}

}  // namespace cordon::launcher
