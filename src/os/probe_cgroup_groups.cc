// SPDX-License-Identifier: Apache-2.0
// Making those groups: by controller on version 1, at the best place on version 2.
#include "os/probe_cgroup_groups.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <unistd.h>

#include <fmt/format.h>

#include "os/block_device.h"
#include "os/cgroup_place.h"
#include "os/file.h"

namespace cordon::os {
namespace {

struct Controller {
  const char* name;
  CgroupLimits limits;
  const char* v1_file;
  const char* v1_text;
  const char* v2_file;
  const char* v2_text;
};

const std::array<Controller, 3>& wanted_controllers() {
  using std::chrono::microseconds;
  static const std::array<Controller, 3> all = {{
      {"memory",
       {.memory_bytes = 67'108'864},
       "memory.limit_in_bytes",
       "67108864\n",
       "memory.max",
       "67108864\n"},
      {"pids", {.pids = 1}, "pids.max", "1\n", "pids.max", "1\n"},
      {"cpu",
       {.cpu = CpuQuota{microseconds{50'000}, microseconds{100'000}}},
       "cpu.cfs_quota_us",
       "50000\n",
       "cpu.max",
       "50000 100000\n"},
  }};
  return all;
}

// Unique among living processes and, by the clock, among dead ones.
std::string fresh_name(std::string_view what) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return fmt::format("cordon-probe-{}-{}-{:x}", what, ::getpid(), now);
}

// Without the names of our groups, which no reader knows and no two runs share.
std::string reason(const Error& error) {
  return error.cause() ? error.cause().message() : error.text();
}

Status read_back(const Fd& dir, const char* file, std::string_view expected) {
  TRY(const std::string text, read_file(dir, file));
  if (text == expected) return {};
  return Error{Errc::unavailable, fmt::format("{} does not keep what is written", file)};
}

Result<Fd> open_group(const std::string& path) {
  return openat(at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
}

Result<CgroupV1> make_v1_group(const CgroupHierarchy& tree, const Controller& controller) {
  if (!tree.own) return Error{Errc::unavailable, "our own group is not visible"};
  TRY(Fd parent, open_group(*tree.own));
  std::vector<CgroupV1Parent> parents;
  parents.push_back({tree.mount.controllers, std::make_shared<const Fd>(std::move(parent))});
  TRY(CgroupV1 group, CgroupV1::create(parents, fresh_name(controller.name), controller.limits));
  if (*controller.v1_file != '\0') {
    TRY_DO(read_back(*group.dir(controller.name), controller.v1_file, controller.v1_text));
  }
  return group;
}

bool hands_on(const Cgroup& group, std::string_view controller) {
  const auto names = available_controllers(group.dir());
  return names && std::ranges::find(*names, controller) != names->end();
}

}  // namespace

TrialGroups TrialGroups::make(const CgroupTrees& trees) {
  TrialGroups groups;
  if (trees.layout == CgroupLayout::v2) {
    groups.make_v2(trees);
  } else {
    groups.make_v1(trees);
  }
  groups.add_io(trees);
  return groups;
}

void TrialGroups::make_v1(const CgroupTrees& trees) {
  for (const Controller& controller : wanted_controllers()) {
    const CgroupHierarchy* const tree = trees.v1(controller.name);
    if (tree == nullptr) {
      refuse(controller.name, "not mounted");
      ++lacking_;
      continue;
    }
    auto group = make_v1_group(*tree, controller);
    if (group) {
      v1_.push_back(*std::move(group));
      held_.emplace_back(controller.name);
    } else {
      refuse(controller.name, reason(group.error()));
    }
  }
}

void TrialGroups::make_v2(const CgroupTrees& trees) {
  auto group = make_v2_group(trees);
  if (!group) {
    for (const Controller& controller : wanted_controllers()) {
      refuse(controller.name, reason(group.error()));
    }
    return;
  }
  v2_.emplace(*std::move(group));
  for (const Controller& controller : wanted_controllers()) {
    if (!hands_on(*v2_, controller.name)) {
      refuse(controller.name, "not delegated");
      continue;
    }
    Status held = v2_->set_limits(controller.limits);
    if (held) held = read_back(v2_->dir(), controller.v2_file, controller.v2_text);
    if (held) {
      held_.emplace_back(controller.name);
    } else {
      refuse(controller.name, reason(held.error()));
    }
  }
}

void TrialGroups::add_io(const CgroupTrees& trees) {
  const auto device = any_block_device();
  if (!device) return;
  const IoLimit limit{.major = device->major,
                      .minor = device->minor,
                      .read_bytes = {},
                      .write_bytes = std::uint64_t{1} << 40U,
                      .read_operations = {},
                      .write_operations = {}};
  CgroupLimits limits;
  limits.io.push_back(limit);
  const std::string numbers = fmt::format("{}:{} ", limit.major, limit.minor);
  const auto kept = [&](const Fd& dir, const char* file) {
    const auto text = read_file(dir, file);
    return text && text->starts_with(numbers) && text->find("1099511627776") != std::string::npos;
  };
  if (v2_ && hands_on(*v2_, "io")) {
    if (v2_->set_limits(limits) && kept(v2_->dir(), "io.max")) held_.emplace_back("io");
    return;
  }
  const CgroupHierarchy* const tree = trees.v1("blkio");
  if (v2_ || tree == nullptr) return;
  const Controller blkio{"blkio", limits, "", "", "", ""};
  auto group = make_v1_group(*tree, blkio);
  if (!group || !kept(*group->dir("blkio"), "blkio.throttle.write_bps_device")) return;
  v1_.push_back(*std::move(group));
  held_.emplace_back("blkio");
}

void TrialGroups::refuse(std::string_view controller, const std::string& why) {
  ++refused_;
  const std::string end = ": " + why;
  if (!refusals_.empty() && refusals_.back().ends_with(end)) {
    refusals_.back().insert(refusals_.back().size() - end.size(), fmt::format(" {}", controller));
  } else {
    refusals_.push_back(fmt::format("not {}{}", controller, end));
  }
}

Status TrialGroups::enter() const {
  for (const CgroupV1& group : v1_) TRY_DO(group.add(0));
  if (v2_) TRY_DO(v2_->add(0));
  return {};
}

Result<Cgroup> make_v2_group(const CgroupTrees& trees) {
  const CgroupHierarchy* const tree = trees.v2();
  if (tree == nullptr) return Error{Errc::unavailable, "no cgroup v2 tree is mounted"};
  if (!tree->own) return Error{Errc::unavailable, "our own group is not visible"};
  // Where there is no place the own group's refusal is the one to tell.
  TRY(const Fd parent, open_group(place_of_groups(*tree).value_or(*tree->own)));
  return Cgroup::create(parent, fresh_name("v2"), {});
}

}  // namespace cordon::os
