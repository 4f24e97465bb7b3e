// SPDX-License-Identifier: Apache-2.0
// Judging a plan: everything in it is hostile until it has passed here.
#include "launcher/floor.h"

#include <algorithm>
#include <array>
#include <linux/capability.h>
#include <sched.h>
#include <string_view>

#include <fmt/format.h>

#include "base/id.h"
#include "os/filter/filter.h"

namespace cordon::launcher {

bool is_plain_path(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() > 4000) return false;
  if (path.find('\0') != std::string_view::npos) return false;
  if (path == "/") return true;
  if (path.back() == '/') return false;
  path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool is_below(std::string_view path, std::string_view tree) {
  if (tree == "/") return true;
  return path == tree || (path.starts_with(tree) && path[tree.size()] == '/');
}

namespace {

static_assert(frame::kNamespaces == (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                                     CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWCGROUP));

constexpr std::uint64_t kMostDisk = std::uint64_t{1} << 50U;
constexpr std::uint64_t kMostInodes = 4'000'000'000;
constexpr std::uint64_t kMostMilliCpus = 100'000'000;

// Of the sandbox's own user namespace, and all that [process] can name.
constexpr std::array kGrantable = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID,
                                   CAP_SETUID, CAP_SETGID,       CAP_KILL,   CAP_NET_BIND_SERVICE};

// Inside, these are ours alone: a mount over them would be a way around a fence.
constexpr std::array<std::string_view, 3> kOwnTrees = {"/proc", "/dev", "/sys"};

Error below_floor(std::string text) { return Error{Errc::denied, std::move(text)}; }

bool is_plain_relative(std::string_view path) { return is_plain_path(fmt::format("/{}", path)); }

Status judge_source(std::string_view path, const Floor& floor) {
  if (!is_plain_path(path)) return below_floor("a source that is no plain path");
  const bool allowed = std::ranges::any_of(
      floor.sources, [&](const std::string& tree) { return is_below(path, tree); });
  if (!allowed) return below_floor(fmt::format("a source outside the floor: {}", path));
  return {};
}

// A whole tree: the host's own is none that a sandbox may have as root, workspace or state.
Status judge_tree(std::string_view path, const Floor& floor) {
  if (path == "/") return below_floor("the root of the host");
  return judge_source(path, floor);
}

Status judge_target(std::string_view path) {
  if (!is_plain_path(path) || path == "/") return below_floor("a target that is no plain path");
  for (const std::string_view tree : kOwnTrees) {
    if (is_below(path, tree)) return below_floor(fmt::format("a target in {}", tree));
  }
  return {};
}

Status judge_shape(const frame::LaunchPlan& plan, const Floor& floor) {
  if (!is_base32_name(plan.id)) return below_floor("an id that is not of our alphabet");
  if (plan.namespaces != frame::kNamespaces) return below_floor("a namespace is missing");
  if (plan.engine < floor.least_engine) return below_floor("a wall that is too weak");
  if (plan.traced && plan.engine == frame::Engine::none) {
    return below_floor("a trace of an engine, without one");
  }
  if (!plan.no_new_privs) return below_floor("no_new_privs is missing");
  const bool is_machine = plan.engine == frame::Engine::machine;
  if (is_machine &&
      (plan.machine.memory < frame::kLeastMachine || plan.machine.memory > kMostDisk)) {
    return below_floor("a machine with too little memory, or too much");
  }
  if (!plan.tenant.empty() && !is_base32_name(plan.tenant)) {
    return below_floor("a tenant that is not of our alphabet");
  }
  if (plan.host_name.empty() || plan.host_name.size() > 64 ||
      plan.host_name.find('\0') != std::string::npos) {
    return below_floor("a host name of a wrong length");
  }
  if (plan.disk.bytes == 0 || plan.disk.bytes > kMostDisk || plan.disk.inodes == 0 ||
      plan.disk.inodes > kMostInodes) {
    return below_floor("a disk without a limit");
  }
  if (plan.limits.milli_cpus.value_or(1) > kMostMilliCpus) {
    return below_floor("more processors than any machine has");
  }
  return {};
}

Status judge_ids(const frame::LaunchPlan& plan, const Floor& floor) {
  const frame::Fences& fences = plan.setup.fences;
  if (fences.uid >= kRange || fences.gid >= kRange) {
    if (plan.ids == frame::Ids::range) return below_floor("an id outside of the range");
  }
  if (plan.ids == frame::Ids::range && (fences.uid == kInitId || fences.gid == kInitId)) {
    return below_floor("the id of pid 1");
  }
  if (fences.root_too && plan.ids != frame::Ids::range) {
    return below_floor("a second id, of which this launcher has none");
  }
  const auto& standby = plan.setup.standby;
  if (standby && (standby->process != frame::kStandby || (standby->as_root && !fences.root_too))) {
    return below_floor("a standby that no sandbox has");
  }
  if (plan.ids == frame::Ids::range && floor.ranges == 0) {
    return below_floor("an id range, of which this launcher has none");
  }
  if (plan.ids == frame::Ids::caller && !floor.caller_ids) {
    return below_floor("the launcher's own id");
  }
  return {};
}

Status judge_writes(const frame::LaunchPlan& plan, os::FilterProfile filter) {
  const bool writes_host =
      (plan.workspace.kind != frame::WorkspaceKind::own_disk && plan.workspace.writable) ||
      std::ranges::any_of(plan.binds, &frame::Bind::writable);
  if (writes_host && !os::has_nosetid(filter)) {
    return below_floor("a writable mount of the host under a filter that lets set-id bits be set");
  }
  return {};
}

Status judge_fences(const frame::LaunchPlan& plan, const Floor& floor) {
  const frame::Fences& fences = plan.setup.fences;
  const auto filter = os::filter_profile_from_string(fences.filter);
  if (!filter || *filter == os::FilterProfile::init) {
    return below_floor("a filter that does not exist");
  }
  // What is told waits for an answer: a node has other work, and may die.
  if (os::has_notify(*filter) && !floor.witnesses) {
    return below_floor("a filter that tells of calls, to a node");
  }
  for (const std::uint32_t capability : fences.capabilities) {
    if (std::ranges::find(kGrantable, static_cast<int>(capability)) == kGrantable.end()) {
      return below_floor(fmt::format("capability {}", capability));
    }
  }
  if (!fences.capabilities.empty() && !os::is_compat(*filter)) {
    return below_floor("capabilities under a strict filter");
  }
  TRY_DO(judge_writes(plan, *filter));
  TRY_DO(judge_ids(plan, floor));
  for (const frame::PathRule& rule : fences.paths) {
    if (!is_plain_path(rule.path)) return below_floor("a Landlock rule without a plain path");
  }
  if (fences.landlock_abi < 0) return below_floor("a Landlock ABI below 0");
  return {};
}

Status judge_workspace(const frame::Workspace& workspace, const Floor& floor) {
  TRY_DO(judge_target(workspace.target));
  if (workspace.kind != frame::WorkspaceKind::own_disk) {
    TRY_DO(judge_tree(workspace.source, floor));
  }
  if (workspace.kind == frame::WorkspaceKind::review) TRY_DO(judge_tree(workspace.state, floor));
  // A review writes too: to its upper layer, which is a directory of the host.
  const bool writes = workspace.kind == frame::WorkspaceKind::review ||
                      (workspace.kind == frame::WorkspaceKind::live && workspace.writable);
  if (writes && !floor.writable_binds) return below_floor("a workspace that writes to the host");
  for (const frame::Pin& pin : workspace.pins) {
    if (!is_plain_relative(pin.path)) return below_floor("a pin that is no plain path");
    if (pin.placeholder && workspace.kind == frame::WorkspaceKind::live) {
      return below_floor("a placeholder in a directory of the host");
    }
  }
  return {};
}

// Its files belong to ids of the range; its tables are bounded by its size.
Status judge_image(const frame::LaunchPlan& plan, const Floor& floor) {
  if (!plan.disk.image) return {};
  if (!floor.disk_images || plan.ids != frame::Ids::range) return below_floor("a disk image");
  if (plan.disk.bytes < frame::kSmallestImage ||
      plan.disk.inodes > plan.disk.bytes / frame::kImageBytesPerInode) {
    return below_floor("a disk image of an odd size");
  }
  return {};
}

// What the launcher trusts must not be a workload's to write: a template of a disk, or the lock of
// a range.
Status judge_own_files(const frame::LaunchPlan& plan) {
  const auto reaches = [](std::string_view source) {
    return std::ranges::any_of(
        std::array<std::string_view, 2>{kLocks, kDisks},
        [&](std::string_view own) { return is_below(own, source) || is_below(source, own); });
  };
  const bool live = plan.workspace.kind == frame::WorkspaceKind::live && plan.workspace.writable;
  const bool review = plan.workspace.kind == frame::WorkspaceKind::review;
  if ((live && reaches(plan.workspace.source)) || (review && reaches(plan.workspace.state)) ||
      std::ranges::any_of(plan.binds, [&](const frame::Bind& bind) {
        return bind.writable && reaches(bind.source);
      })) {
    return below_floor("a writable mount of the launcher's own files");
  }
  return {};
}

Status judge_mounts(const frame::LaunchPlan& plan, const Floor& floor) {
  if (plan.root != frame::RootSource::host) TRY_DO(judge_tree(plan.root_path, floor));
  if (plan.root_layer && plan.root == frame::RootSource::host) {
    return below_floor("a layer over the host's own programs");
  }
  if (!plan.homes.empty() && !plan.root_layer)
    return below_floor("a home in a root without a layer");
  for (const std::string& home : plan.homes) TRY_DO(judge_target(home));
  for (const frame::Bind& bind : plan.binds) {
    TRY_DO(judge_source(bind.source, floor));
    TRY_DO(judge_target(bind.target));
    // What is optional is of the system, and attached without a map of ids.
    if (bind.writable && (!floor.writable_binds || bind.optional)) {
      return below_floor("a writable mount of the host");
    }
  }
  for (const frame::OwnFile& file : plan.files) TRY_DO(judge_target(file.target));
  for (const std::string& directory : plan.directories) {
    if (directory != "/dev/shm") TRY_DO(judge_target(directory));
  }
  TRY_DO(judge_workspace(plan.workspace, floor));
  TRY_DO(judge_own_files(plan));
  return judge_image(plan, floor);
}

}  // namespace

Result<JudgedPlan> judge(const frame::ReceivedPlan& received, const Floor& floor) {
  const frame::LaunchPlan& plan = received.plan();
  TRY_DO(judge_shape(plan, floor));
  TRY_DO(judge_fences(plan, floor));
  TRY_DO(judge_mounts(plan, floor));
  return JudgedPlan{plan};
}

}  // namespace cordon::launcher
