// SPDX-License-Identifier: Apache-2.0
// Version 1 groups, by the files of each hierarchy.
#include "os/cgroup_v1.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "os/cgroup_file.h"
#include "os/file.h"
#include "os/pidfd.h"

namespace cordon::os {
namespace {

constexpr int kKillRounds = 2000;
constexpr std::chrono::milliseconds kRound{1};

struct Member {
  pid_t pid;
  Fd pidfd;
};

}  // namespace

Result<CgroupV1> CgroupV1::create(std::span<const CgroupV1Parent> parents, std::string name,
                                  const CgroupLimits& limits) {
  CgroupV1 group{std::move(name)};  // owns each directory as soon as it is made
  for (const CgroupV1Parent& parent : parents) {
    if (::mkdirat(parent.dir->get(), group.name_.c_str(), 0755) != 0) {
      return Error::from_errno("mkdir").with(
          fmt::format("cgroup {} of {}", group.name_, fmt::join(parent.controllers, ",")));
    }
    group.parts_.push_back({parent.controllers, parent.dir, Fd{}});
    Part& part = group.parts_.back();
    TRY(part.dir, openat(*part.parent, group.name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }
  auto limited = group.set_limits(limits);
  if (!limited) return std::move(limited).error().with("cgroup " + group.name_);
  return group;
}

Result<CgroupV1> CgroupV1::adopt(std::span<const CgroupV1Parent> parents, std::string name) {
  CgroupV1 group{std::move(name)};
  for (const CgroupV1Parent& parent : parents) {
    auto dir = openat(*parent.dir, group.name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!dir) {
      if (dir.error().code() == Errc::not_found) continue;
      return std::move(dir).error();
    }
    group.parts_.push_back({parent.controllers, parent.dir, *std::move(dir)});
  }
  if (group.parts_.empty()) return Error{Errc::not_found, "cgroup " + group.name_};
  return group;
}

CgroupV1::~CgroupV1() {
  if (!parts_.empty()) static_cast<void>(kill_and_remove());
}

const Fd* CgroupV1::dir(std::string_view controller) const noexcept {
  for (const Part& part : parts_) {
    if (std::ranges::find(part.controllers, controller) != part.controllers.end()) {
      return &part.dir;
    }
  }
  return nullptr;
}

Result<const Fd*> CgroupV1::require(std::string_view controller) const {
  const Fd* found = dir(controller);
  if (found == nullptr) {
    return Error{Errc::unavailable, fmt::format("no v1 hierarchy with {}", controller)};
  }
  return found;
}

Status CgroupV1::set_memory(const CgroupLimits& limits) const {
  TRY(const Fd* memory, require("memory"));
  if (!limits.memory_bytes) {
    return Error{Errc::invalid, "v1 limits swap only together with memory"};
  }
  const std::string bytes = std::to_string(*limits.memory_bytes);
  if (!limits.swap_bytes) return write_file(*memory, "memory.limit_in_bytes", bytes);
  const std::string both = std::to_string(*limits.memory_bytes + *limits.swap_bytes);
  // memory may never exceed memory+swap: lowering goes one way round, raising the other.
  const auto lowered = write_file(*memory, "memory.limit_in_bytes", bytes);
  TRY_DO(write_file(*memory, "memory.memsw.limit_in_bytes", both));
  if (lowered) return {};
  return write_file(*memory, "memory.limit_in_bytes", bytes);
}

Status CgroupV1::set_io(const IoLimit& limit) const {
  TRY(const Fd* blkio, require("blkio"));
  const auto write = [&](const char* file, const std::optional<std::uint64_t>& value) -> Status {
    if (!value) return {};
    return write_file(*blkio, file, fmt::format("{}:{} {}", limit.major, limit.minor, *value));
  };
  TRY_DO(write("blkio.throttle.read_bps_device", limit.read_bytes));
  TRY_DO(write("blkio.throttle.write_bps_device", limit.write_bytes));
  TRY_DO(write("blkio.throttle.read_iops_device", limit.read_operations));
  return write("blkio.throttle.write_iops_device", limit.write_operations);
}

Status CgroupV1::set_limits(const CgroupLimits& limits) const {
  if (limits.memory_bytes || limits.swap_bytes) TRY_DO(set_memory(limits));
  if (limits.pids) {
    TRY(const Fd* pids, require("pids"));
    TRY_DO(write_file(*pids, "pids.max", std::to_string(*limits.pids)));
  }
  if (limits.cpu) {
    TRY(const Fd* cpu, require("cpu"));
    TRY_DO(write_file(*cpu, "cpu.cfs_period_us", std::to_string(limits.cpu->period.count())));
    TRY_DO(write_file(*cpu, "cpu.cfs_quota_us", std::to_string(limits.cpu->quota.count())));
  }
  for (const IoLimit& limit : limits.io) {
    TRY_DO(set_io(limit));
  }
  return {};
}

Status CgroupV1::add(pid_t pid) const {
  for (const Part& part : parts_) {
    auto moved = write_file(part.dir, "cgroup.procs", std::to_string(pid));
    if (!moved) {
      return std::move(moved).error().with(fmt::format("{}", fmt::join(part.controllers, ",")));
    }
  }
  return {};
}

Status CgroupV1::enter() const {
  for (const Part& part : parts_) {
    auto moved = write_file(part.dir, "tasks", "0");
    if (!moved) {
      return std::move(moved).error().with(fmt::format("{}", fmt::join(part.controllers, ",")));
    }
  }
  return {};
}

Status CgroupV1::signal_members(int signal) const {
  TRY(const std::vector<pid_t> listed, processes());
  std::vector<Member> members;
  for (const pid_t pid : listed) {
    if (auto pidfd = pidfd_open(pid)) members.push_back({pid, *std::move(pidfd)});
  }
  // Between the list and pidfd_open a pid may have passed to a stranger. Who is still listed after
  // the descriptor is held is the one that the descriptor holds.
  TRY(const std::vector<pid_t> again, processes());
  for (const Member& member : members) {
    if (std::ranges::find(again, member.pid) == again.end()) continue;
    static_cast<void>(pidfd_send_signal(member.pidfd, signal));
  }
  return {};
}

Status CgroupV1::kill() const {
  for (int round = 0; round < kKillRounds; ++round) {
    TRY(const std::vector<pid_t> left, processes());
    if (left.empty()) return {};
    // The freezer holds forks back while we signal; a frozen process dies only once thawed.
    const bool frozen = static_cast<bool>(freeze());
    auto signalled = signal_members(SIGKILL);
    if (frozen) TRY_DO(thaw());
    TRY_DO(std::move(signalled));
    std::this_thread::sleep_for(kRound);
  }
  return Error{Errc::timeout, "cgroup " + name_ + ": processes outlive SIGKILL"};
}

Status CgroupV1::set_frozen(std::string_view state) const {
  TRY(const Fd* freezer, require("freezer"));
  return write_file(*freezer, "freezer.state", state);
}

Status CgroupV1::freeze() const { return set_frozen("FROZEN"); }
Status CgroupV1::thaw() const { return set_frozen("THAWED"); }

Result<CgroupEvents> CgroupV1::events() const {
  TRY(const std::vector<pid_t> pids, processes());
  CgroupEvents events{.populated = !pids.empty(), .frozen = false};
  if (const Fd* freezer = dir("freezer")) {
    TRY(const std::string state, read_file(*freezer, "freezer.state"));
    events.frozen = state == "FROZEN\n";
  }
  return events;
}

Result<std::vector<pid_t>> CgroupV1::processes() const {
  std::vector<pid_t> all;
  for (const Part& part : parts_) {
    TRY(const std::string text, read_file(part.dir, "cgroup.procs"));
    const std::vector<pid_t> some = parse_pids(text);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

CgroupUsage CgroupV1::usage() const {
  CgroupUsage usage;
  if (const Fd* memory = dir("memory")) {
    usage.memory_bytes = read_number(*memory, "memory.usage_in_bytes");
    usage.memory_peak = read_number(*memory, "memory.max_usage_in_bytes");
    usage.oom_kills = read_keyed(*memory, "memory.oom_control", "oom_kill");
  }
  if (const Fd* pids = dir("pids")) {
    usage.pids = read_number(*pids, "pids.current");
    usage.pids_peak = read_number(*pids, "pids.peak");
    usage.pids_refused = read_keyed(*pids, "pids.events", "max");
  }
  if (const Fd* cpuacct = dir("cpuacct")) {
    if (const auto spent = read_number(*cpuacct, "cpuacct.usage")) {
      usage.cpu =
          std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds{*spent});
    }
  }
  return usage;
}

Status CgroupV1::remove() && {
  auto done = kill_and_remove();
  parts_.clear();
  return done;
}

Status CgroupV1::kill_and_remove() {
  // Mostly nobody is left in them: then each goes with one call.
  std::erase_if(parts_, [&](const Part& part) {
    return ::unlinkat(part.parent->get(), name_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
  });
  if (parts_.empty()) return {};
  Status worst = kill();
  for (const Part& part : parts_) {
    auto removed = remove_group_tree(*part.parent, name_, kRemovalTries);
    if (!removed && worst) worst = std::move(removed);
  }
  return worst;
}

}  // namespace cordon::os
