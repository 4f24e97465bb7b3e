// SPDX-License-Identifier: Apache-2.0
#include "launcher/groups.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/cgroup_file.h"
#include "os/directory.h"
#include "os/file.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kMostGroups = 100'000;
constexpr std::string_view kPrefix = "cordon-";
constexpr std::array<std::string_view, 5> kControllers = {"memory", "pids", "cpu", "cpuacct",
                                                          "freezer"};

os::CgroupLimits limits_of(const frame::GroupLimits& wanted) {
  os::CgroupLimits limits;
  limits.memory_bytes = wanted.memory;
  if (wanted.memory) limits.swap_bytes = 0;
  limits.pids = wanted.pids;
  if (wanted.milli_cpus) {
    constexpr std::chrono::microseconds kPeriod{100'000};
    limits.cpu = os::CpuQuota{.quota = kPeriod * *wanted.milli_cpus / 1000, .period = kPeriod};
  }
  return limits;
}

Result<os::Fd> open_group(const std::string& path) {
  return os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
}

// Field 22 of /proc/PID/stat: when it started, in clock ticks since boot. One that has ended and
// waits for its parent is not found.
Result<std::string> start_time(pid_t pid) {
  TRY(const std::string text,
      os::read_file(os::at_cwd(), fmt::format("/proc/{}/stat", pid).c_str()));
  // The name in brackets may contain anything, also brackets and spaces.
  std::size_t at = text.rfind(')');
  if (at == std::string::npos) return Error{Errc::internal, "/proc/PID/stat has no name"};
  const std::string_view state = std::string_view{text}.substr(at).substr(0, 3);
  if (state == ") Z" || state == ") X") return Error{Errc::not_found, "the process has ended"};
  for (int field = 2; field < 22; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) return Error{Errc::internal, "/proc/PID/stat is short"};
  }
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

// True when the launcher that made a group of this name has ended, or the name is none of ours in
// full and tells nothing: then it stays.
bool maker_is_dead(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  const std::size_t dot = name.rfind('.');
  if (dash == std::string_view::npos || dot == std::string_view::npos || dot < dash) return false;
  pid_t pid = 0;
  const std::string_view digits = name.substr(dash + 1, dot - dash - 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (error != std::errc{} || end != digits.data() + digits.size() || pid <= 0) return false;
  const auto started = start_time(pid);
  // Only what is known to be gone counts as dead.
  if (!started) return started.error().code() == Errc::not_found;
  return *started != name.substr(dot + 1);
}

std::size_t reclaim_in(const std::string& path) {
  std::size_t removed = 0;
  const auto dir = open_group(path);
  if (!dir) return 0;
  const auto names = os::list_directory(*dir, kMostGroups);
  if (!names) return 0;
  for (const std::string& name : *names) {
    if (!name.starts_with(kPrefix) || !maker_is_dead(name)) continue;
    // Refused (EBUSY) while a process lives in it: then its pid 1 still has a node.
    if (::unlinkat(dir->get(), name.c_str(), AT_REMOVEDIR) == 0) ++removed;
  }
  return removed;
}

}  // namespace

Result<std::string> group_name(const std::string& id) {
  TRY(const std::string started, start_time(::getpid()));
  return fmt::format("{}{}-{}.{}", kPrefix, id, ::getpid(), started);
}

std::size_t reclaim_groups(const os::CgroupTrees& trees) {
  std::size_t removed = 0;
  for (const os::CgroupHierarchy& tree : trees.hierarchies) {
    if (tree.own) removed += reclaim_in(*tree.own);
  }
  return removed;
}

Status SandboxGroups::add_v1(const os::CgroupTrees& trees, const std::string& name,
                             const frame::LaunchPlan& plan) {
  std::vector<os::CgroupV1Parent> parents;
  for (const os::CgroupHierarchy& tree : trees.hierarchies) {
    const auto& names = tree.mount.controllers;
    const bool wanted =
        std::ranges::any_of(kControllers,
                            [&](std::string_view controller) {
                              return std::ranges::find(names, controller) != names.end();
                            }) ||
        (plan.limits.io_bytes && std::ranges::find(names, "blkio") != names.end());
    if (tree.mount.v2 || !tree.own || !wanted) continue;
    TRY(os::Fd dir, open_group(*tree.own));
    parents.push_back({names, std::move(dir)});
    paths_.push_back(*tree.own + "/" + name);
  }
  TRY(os::CgroupV1 made, os::CgroupV1::create(parents, name, limits_of(plan.limits)));
  v1_.emplace(std::move(made));
  return {};
}

Status SandboxGroups::add_v2(const os::CgroupTrees& trees, const std::string& name,
                             const frame::LaunchPlan& plan) {
  const os::CgroupHierarchy* const tree = trees.v2();
  if (tree == nullptr || !tree->own) return Error{Errc::unavailable, "no version 2 tree"};
  const bool limits = plan.groups && trees.layout == CgroupLayout::v2;
  TRY(const os::Fd dir, open_group(*tree->own));
  TRY(os::Cgroup made,
      os::Cgroup::create(dir, name, limits ? limits_of(plan.limits) : os::CgroupLimits{}));
  v2_.emplace(std::move(made));
  paths_.push_back(*tree->own + "/" + name);
  return {};
}

Result<SandboxGroups> SandboxGroups::create(const os::CgroupTrees& trees, const std::string& name,
                                            const frame::LaunchPlan& plan) {
  SandboxGroups groups;
  Status second = groups.add_v2(trees, name, plan);
  if (!plan.groups) return groups;
  if (trees.layout == CgroupLayout::v2) {
    if (!second) return std::move(second).error();
  } else {
    TRY_DO(groups.add_v1(trees, name, plan));
  }
  return groups;
}

Status SandboxGroups::hold_io(const std::vector<os::IoLimit>& limits) const {
  os::CgroupLimits io;
  io.io = limits;
  if (v1_) return v1_->set_limits(io);
  if (v2_) return v2_->set_limits(io);
  return limits.empty() ? Status{} : Error{Errc::unavailable, "no group could hold the I/O limit"};
}

Status SandboxGroups::enter() const {
  if (v1_) return v1_->enter();
  return {};
}

os::CgroupUsage SandboxGroups::usage() const {
  if (v1_) return v1_->usage();
  if (v2_) return v2_->usage();
  return {};
}

Status SandboxGroups::kill() const {
  if (v2_) return v2_->kill();
  if (v1_) return v1_->kill();
  return Error{Errc::unavailable, "the sandbox has no group"};
}

}  // namespace cordon::launcher
