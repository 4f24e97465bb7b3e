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
// Of gVisor: what one task inside is to the host's kernel, and what it needs itself.
constexpr std::uint64_t kEngineTasks = 3;
constexpr std::uint64_t kEngineOwnTasks = 1024;

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
  if (disk.image) disk.inodes = std::min(disk.inodes, disk.bytes / frame::kImageBytesPerInode);
  if (disk.image && (!request.host.root || !request.host.has(Feature::disk_images))) {
    const Fact& fact = request.host[Feature::disk_images];
    request.refusals.add(
        Errc::unavailable, "DISK",
        {.tried = fmt::format("resources.disk_limit = {}", to_size_text(disk.bytes)),
         .rule = disk_rule(request),
         .why = fmt::format(
             "{} the sandbox's own disk is in memory, of which it has {}",
             request.host.root
                 ? fmt::format("where disk images are {}{}", to_string(fact.support),
                               fact.detail.empty() ? "," : fmt::format(" ({})", fact.detail))
                 : std::string{"without root"},
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

namespace {

// The line that sets the smallest I/O limit.
std::string io_rule(const Request& request) {
  for (const auto& checked : request.policy.documents()) {
    const auto& io = checked->document().resources.io;
    if (io && request.settings.limits.io == io->value)
      return rule_text(checked->document(), io->place);
  }
  return "default";
}

// A limit that nothing here can hold is refused: who states one relies on it.
std::optional<std::uint64_t> io_of(const Request& request) {
  const std::optional<std::uint64_t>& wanted = request.settings.limits.io;
  if (!wanted) return std::nullopt;
  const Fact& groups = request.host[Feature::cgroup];
  const auto refuse = [&](std::string why, std::string fix) {
    request.refusals.add(Errc::unavailable, "IO",
                         {.tried = fmt::format("resources.io_limit = {}", to_size_text(*wanted)),
                          .rule = io_rule(request),
                          .why = std::move(why),
                          .fix = std::move(fix)});
  };
  if (!has_controller(request.host, "io") && !has_controller(request.host, "blkio")) {
    refuse("no control group of this caller can hold it",
           groups.remedy.empty() ? "cordon doctor" : groups.remedy);
  }
  for (const std::string& path : request.situation.survey.without_device) {
    refuse(fmt::format("{} lies on no disk of its own, so that nothing can slow it down", path),
           {});
  }
  return wanted;
}

// By how much the workspace may grow: where it is the host's, written, and can be counted.
bool counts_workspace(const Request& request, const Files& files) {
  if (!request.settings.limits.disk || !files.workspace.writable) return false;
  return files.workspace.kind == frame::WorkspaceKind::review ||
         (files.workspace.kind == frame::WorkspaceKind::live &&
          request.situation.survey.workspace_bytes);
}

// Of a group that a machine is in: what runs it counts too, and its disk where that is memory.
constexpr std::uint64_t kMachineOwn = std::uint64_t{256} << 20U;
constexpr std::uint64_t kMachineTasks = 256;

void limit_machine(const Request& request, Limiting& limiting) {
  const policy::Limits& limits = request.settings.limits;
  limiting.by_process.processes = limits.pids.value_or(0);
  if (has_controller(request.host, "pids")) limiting.in_group.pids = kMachineTasks;
  if (!has_controller(request.host, "memory")) return;
  limiting.in_group.memory = machine_memory(limits) + kMachineOwn;
  if (!limiting.disk.image) *limiting.in_group.memory += limiting.disk.bytes;
}

}  // namespace

std::uint64_t machine_memory(const policy::Limits& limits) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
  const std::uint64_t wanted = limits.memory.value_or(frame::kUsualMachine);
  return std::max(wanted / kMebibyte * kMebibyte, frame::kLeastMachine);
}

Limiting limits_of(const Request& request, const Files& files) {
  const policy::Limits& limits = request.settings.limits;
  const HostFacts& host = request.host;
  Limiting limiting;
  limiting.disk = disk_of(request);
  limiting.budgets = {.wall = seconds(limits.wall_seconds),
                      .cpu = seconds(limits.cpu_seconds),
                      .output = limits.output,
                      .memory = std::nullopt,
                      .workspace = std::nullopt};
  if (counts_workspace(request, files)) {
    limiting.budgets.workspace = limits.disk;
    if (files.workspace.kind == frame::WorkspaceKind::live)
      limiting.budgets.workspace_before = request.situation.survey.workspace_bytes.value_or(0);
  }
  limiting.by_process.open_files = limits.open_files.value_or(0);
  if (files.writes_to_host) limiting.by_process.file_size = limits.disk.value_or(0);

  const bool is_machine = request.settings.isolation == Isolation::microvm;
  if (is_machine) {
    limit_machine(request, limiting);
  } else if (has_controller(host, "memory")) {
    limiting.in_group.memory = limits.memory;
  } else {
    limiting.budgets.memory = limits.memory;
  }
  const bool behind_engine = request.settings.isolation == Isolation::gvisor;
  if (behind_engine && limits.pids) {
    // Its kernel counts what runs inside, but not the first; ours counts what it runs that with.
    limiting.by_process.processes = std::max<std::uint64_t>(*limits.pids, 2) - 1;
    if (has_controller(host, "pids")) {
      limiting.in_group.pids = *limits.pids * kEngineTasks + kEngineOwnTasks;
    }
  } else if (!is_machine && has_controller(host, "pids")) {
    limiting.in_group.pids = limits.pids;
  } else if (!is_machine) {
    limiting.by_process.processes = limits.pids.value_or(0);
  }
  if (has_controller(host, "cpu")) limiting.in_group.milli_cpus = limits.milli_cpus;
  limiting.in_group.io_bytes = io_of(request);
  limiting.groups = has_controller(host, "memory") || has_controller(host, "pids") ||
                    has_controller(host, "cpu") || limiting.in_group.io_bytes.has_value();
  return limiting;
}

}  // namespace cordon::plan
