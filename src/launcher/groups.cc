// SPDX-License-Identifier: Apache-2.0
#include "launcher/groups.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/cgroup_place.h"
#include "os/file.h"

namespace cordon::launcher {
namespace {

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

bool has(const std::vector<std::string>& controllers, std::string_view wanted) {
  return std::ranges::find(controllers, wanted) != controllers.end();
}

// The freezer is not among them: with pid 1 the kernel kills all that is in its pid namespace.
bool is_wanted_v1(const os::CgroupHierarchy& tree) {
  if (tree.mount.v2 || !tree.own) return false;
  for (const std::string_view controller : {"memory", "pids", "cpu", "cpuacct"}) {
    if (has(tree.mount.controllers, controller)) return true;
  }
  // For I/O only who may make groups there has some: others have the rest without it.
  return has(tree.mount.controllers, "blkio") && ::access(tree.own->c_str(), W_OK) == 0;
}

// Those of the hierarchies whose only controllers are not needed stay without a group.
bool is_needed(const std::vector<std::string>& controllers, const GroupNeeds& needs) {
  return std::ranges::any_of(controllers, [&](const std::string& controller) {
    if (controller == "memory") return needs.memory;
    if (controller == "blkio") return needs.io;
    return true;
  });
}

// Where our own group lies; the top lies in itself, and is the one group that may hold processes
// and hand controllers on.
std::string group_above(const os::CgroupHierarchy& tree) {
  const std::string& own = tree.own.value_or(tree.mount.path);
  if (own.size() <= tree.mount.path.size()) return own;
  return own.substr(0, own.rfind('/'));
}

// Those of limits must be there; a limit on I/O is refused by itself where there is none.
Status hand_controllers_on(const os::Fd& group) {
  TRY_DO(os::enable_controllers(group, os::kLimitControllers));
  TRY(const std::vector<std::string> offered, os::available_controllers(group));
  constexpr std::array<std::string_view, 1> kIo{"io"};
  return has(offered, kIo.front()) ? os::enable_controllers(group, kIo) : Status{};
}

}  // namespace

void place_groups(os::CgroupTrees& trees) {
  for (os::CgroupHierarchy& tree : trees.hierarchies) {
    if (!tree.mount.v2) continue;
    if (auto place = os::place_of_groups(tree)) tree.own = *std::move(place);
  }
}

Status place_groups_below(os::CgroupTrees& trees, const std::string& cgroup) {
  for (os::CgroupHierarchy& tree : trees.hierarchies) {
    if (!tree.own || !(tree.mount.v2 || is_wanted_v1(tree))) continue;
    const bool limits = tree.mount.v2 && trees.layout == CgroupLayout::v2;
    std::string path = limits ? group_above(tree) : *tree.own;
    for (std::size_t at = 0; at < cgroup.size();) {
      const std::size_t end = std::min(cgroup.find('/', at), cgroup.size());
      TRY(const os::Fd above, open_group(path));
      if (limits) TRY_DO(hand_controllers_on(above));
      const std::string name = cgroup.substr(at, end - at);
      if (::mkdirat(above.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
        return Error::from_errno("mkdir").with(fmt::format("cgroup {}/{}", path, name));
      }
      path += "/" + name;
      at = end + 1;
    }
    TRY(const os::Fd last, open_group(path));
    if (limits) TRY_DO(hand_controllers_on(last));
    tree.own = std::move(path);
  }
  return {};
}

GroupTrees GroupTrees::open(const os::CgroupTrees& trees) {
  GroupTrees opened;
  opened.layout = trees.layout;
  for (const os::CgroupHierarchy& tree : trees.hierarchies) {
    if (!tree.own || !is_wanted_v1(tree)) continue;
    auto dir = open_group(*tree.own);
    if (!dir) continue;
    opened.v1.push_back(
        {{tree.mount.controllers, std::make_shared<const os::Fd>(*std::move(dir))}, *tree.own});
  }
  if (const os::CgroupHierarchy* const tree = trees.v2(); tree != nullptr && tree->own) {
    auto dir = open_group(*tree->own);
    if (dir) opened.v2 = *std::move(dir);
    opened.v2_path = *tree->own;
  }
  return opened;
}

GroupNeeds needs_of(const frame::LaunchPlan& plan) {
  return {.memory = plan.limits.memory.has_value(), .io = plan.limits.io_bytes.has_value()};
}

Status SandboxGroups::add_v1(const GroupNeeds& needs) {
  std::vector<os::CgroupV1Parent> parents;
  for (const GroupTrees::V1& tree : trees_->v1) {
    if (!is_needed(tree.parent.controllers, needs)) continue;
    parents.push_back(tree.parent);
    paths_.push_back(tree.path + "/" + name_);
  }
  TRY(os::CgroupV1 made, os::CgroupV1::create(parents, name_, {}));
  v1_.emplace(std::move(made));
  return {};
}

Status SandboxGroups::add_v2() {
  if (!trees_->v2) return Error{Errc::unavailable, "no version 2 tree"};
  TRY(os::Cgroup made, os::Cgroup::create(trees_->v2, name_, {}));
  v2_.emplace(std::move(made));
  paths_.push_back(trees_->v2_path + "/" + name_);
  return {};
}

Result<SandboxGroups> SandboxGroups::prepare(Trees trees, std::string name,
                                             const GroupNeeds& needs) {
  SandboxGroups groups{std::move(trees), std::move(name)};
  Status second = groups.add_v2();
  if (groups.trees_->layout == CgroupLayout::v2) {
    if (!second) return std::move(second).error();
  } else {
    TRY_DO(groups.add_v1(needs));
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

Result<SandboxGroups> SandboxGroups::create(Trees trees, std::string name,
                                            const frame::LaunchPlan& plan) {
  if (!plan.groups) {
    SandboxGroups groups{std::move(trees), std::move(name)};
    static_cast<void>(groups.add_v2());
    return groups;
  }
  TRY(SandboxGroups groups, prepare(std::move(trees), std::move(name), needs_of(plan)));
  TRY_DO(groups.limit(plan));
  return groups;
}

SandboxGroups::~SandboxGroups() { wake(); }

Status SandboxGroups::limit(const frame::LaunchPlan& plan) const {
  if (!plan.groups) return {};
  const os::CgroupLimits limits = limits_of(plan.limits);
  Status limited = v1_   ? v1_->set_limits(limits)
                   : v2_ ? v2_->set_limits(limits)
                         : Error{Errc::unavailable, "the sandbox has no group"};
  if (!limited) return std::move(limited).error().with("cgroup " + name_);
  return {};
}

Status SandboxGroups::enter() const {
  if (v1_) return v1_->enter();
  return {};
}

void SandboxGroups::rest() {
  if (rests_) return;
  rests_ = true;
  if (v1_) std::move(*v1_).leave();
  if (v2_) std::move(*v2_).leave();
}

void SandboxGroups::wake() {
  if (!rests_ || !trees_) return;  // without trees: moved from
  rests_ = false;
  if (v1_) {
    v1_.reset();
    std::vector<os::CgroupV1Parent> parents;
    for (const GroupTrees::V1& tree : trees_->v1) parents.push_back(tree.parent);
    if (auto found = os::CgroupV1::adopt(parents, name_)) v1_.emplace(*std::move(found));
  }
  if (v2_) {
    v2_.reset();
    if (auto found = os::Cgroup::adopt(trees_->v2, name_)) v2_.emplace(*std::move(found));
  }
}

os::CgroupUsage SandboxGroups::usage() {
  wake();
  if (v1_) return v1_->usage();
  if (v2_) return v2_->usage();
  return {};
}

}  // namespace cordon::launcher
