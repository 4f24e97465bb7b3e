// SPDX-License-Identifier: Apache-2.0
#include "plan/limits.h"

#include <algorithm>

#include <fmt/format.h>

#include "record/quantity.h"

namespace cordon::plan {
namespace {

constexpr std::uint64_t kDefaultDisk = std::uint64_t{1} << 30U;
constexpr std::uint64_t kBytesPerInode = 4096;
constexpr std::uint64_t kFewestInodes = 1024;
constexpr std::uint64_t kMostInodes = 200'000;  // where nobody says a number

// The line that sets the smallest disk.
std::string disk_rule(const Request& request) {
  for (const auto& checked : request.policy.documents()) {
    const auto& disk = checked->document().resources.disk;
    if (disk && request.settings.limits.disk == disk->value)
      return rule_text(checked->document(), disk->place);
  }
  return "default";
}

frame::Disk disk_of(const Request& request) {
  const policy::Limits& limits = request.settings.limits;
  const std::uint64_t memory = limits.memory.value_or(UINT64_MAX);
  frame::Disk disk;
  disk.bytes = limits.disk.value_or(std::min(memory, kDefaultDisk));
  disk.inodes =
      limits.inodes.value_or(std::clamp(disk.bytes / kBytesPerInode, kFewestInodes, kMostInodes));
  disk.image = disk.bytes > memory;
  if (disk.image && !request.host.root) {
    request.refusals.add(
        Errc::unavailable, "DISK",
        {.tried = fmt::format("resources.disk_limit = {}", to_size_text(disk.bytes)),
         .rule = disk_rule(request),
         .why = fmt::format("without root the sandbox's own disk is in memory, of which it has {}",
                            to_size_text(memory)),
         .fix = request.with_flag(fmt::format("--disk {}", memory))});
  }
  return disk;
}

std::optional<std::chrono::seconds> seconds(const std::optional<std::uint64_t>& count) {
  if (!count) return std::nullopt;
  return std::chrono::seconds{*count};
}

}  // namespace

bool has_controller(const HostFacts& host, std::string_view controller) {
  const Support support = host[Feature::cgroup].support;
  return (support == Support::ok || support == Support::limited) &&
         std::ranges::find(host.controllers, controller) != host.controllers.end();
}

Limiting limits_of(const Request& request, bool writes_to_host) {
  const policy::Limits& limits = request.settings.limits;
  const HostFacts& host = request.host;
  Limiting limiting;
  limiting.disk = disk_of(request);
  limiting.budgets = {.wall = seconds(limits.wall_seconds),
                      .cpu = seconds(limits.cpu_seconds),
                      .output = limits.output,
                      .memory = std::nullopt};
  limiting.by_process.open_files = limits.open_files.value_or(0);
  if (writes_to_host) limiting.by_process.file_size = limits.disk.value_or(0);

  if (has_controller(host, "memory")) {
    limiting.in_group.memory = limits.memory;
  } else {
    limiting.budgets.memory = limits.memory;
  }
  if (has_controller(host, "pids")) {
    limiting.in_group.pids = limits.pids;
  } else {
    limiting.by_process.processes = limits.pids.value_or(0);
  }
  if (has_controller(host, "cpu")) limiting.in_group.milli_cpus = limits.milli_cpus;
  if (has_controller(host, "io") || has_controller(host, "blkio"))
    limiting.in_group.io_bytes = limits.io;
  limiting.groups =
      has_controller(host, "memory") || has_controller(host, "pids") || has_controller(host, "cpu");
  return limiting;
}

}  // namespace cordon::plan
