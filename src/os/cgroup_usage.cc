// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_usage.h"

#include <fcntl.h>

#include "os/cgroup_file.h"
#include "os/file.h"

namespace cordon::os {
namespace {

void read_first(std::optional<std::uint64_t>& into, const Fd& dir,
                std::initializer_list<const char*> files) {
  for (const char* file : files) {
    if (!into) into = read_number(dir, file);
  }
}

void read_field(std::optional<std::uint64_t>& into, const Fd& dir, const char* file,
                std::string_view field) {
  if (!into) into = read_keyed(dir, file, field);
}

void read_cpu(CgroupUsage& usage, const Fd& dir) {
  if (usage.cpu) return;
  std::optional<std::uint64_t> nanoseconds;
  read_first(nanoseconds, dir, {"cpuacct.usage"});
  if (nanoseconds) {
    usage.cpu = std::chrono::microseconds{*nanoseconds / 1000};
    return;
  }
  std::optional<std::uint64_t> microseconds;
  read_field(microseconds, dir, "cpu.stat", "usage_usec");
  if (microseconds) usage.cpu = std::chrono::microseconds{*microseconds};
}

}  // namespace

CgroupUsage read_cgroup_usage(std::span<const std::string> directories) {
  CgroupUsage usage;
  for (const std::string& path : directories) {
    const auto dir = openat(at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!dir) continue;
    read_first(usage.memory_bytes, *dir, {"memory.usage_in_bytes", "memory.current"});
    read_first(usage.memory_peak, *dir, {"memory.max_usage_in_bytes", "memory.peak"});
    read_field(usage.oom_kills, *dir, "memory.oom_control", "oom_kill");
    read_field(usage.oom_kills, *dir, "memory.events", "oom_kill");
    read_first(usage.pids, *dir, {"pids.current"});
    read_first(usage.pids_peak, *dir, {"pids.peak"});
    read_field(usage.pids_refused, *dir, "pids.events", "max");
    read_cpu(usage, *dir);
  }
  return usage;
}

Status remove_group(const std::string& directory, int tries) {
  const std::size_t slash = directory.rfind('/');
  if (slash == std::string::npos) return Error{Errc::invalid, directory + ": no group"};
  const auto parent = openat(at_cwd(), directory.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY);
  if (!parent) return parent.error();
  return remove_group_tree(*parent, directory.substr(slash + 1), tries);
}

}  // namespace cordon::os
