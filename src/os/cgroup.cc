// SPDX-License-Identifier: Apache-2.0
// Version 2 groups, by their files.
#include "os/cgroup.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/cgroup_file.h"
#include "os/file.h"

namespace cordon::os {
namespace {

std::string io_line(const IoLimit& limit) {
  std::string line = fmt::format("{}:{}", limit.major, limit.minor);
  const auto append = [&](std::string_view key, const std::optional<std::uint64_t>& value) {
    if (value) line += fmt::format(" {}={}", key, *value);
  };
  append("rbps", limit.read_bytes);
  append("wbps", limit.write_bytes);
  append("riops", limit.read_operations);
  append("wiops", limit.write_operations);
  return line;
}

Status write_number(const Fd& dir, const char* file, const std::optional<std::uint64_t>& value) {
  if (!value) return {};
  return write_file(dir, file, std::to_string(*value));
}

}  // namespace

Cgroup::Cgroup(Fd parent, Fd dir, std::string name)
    : parent_{std::move(parent)}, dir_{std::move(dir)}, name_{std::move(name)} {}

Result<Cgroup> Cgroup::create(const Fd& parent, std::string name, const CgroupLimits& limits) {
  TRY(Fd above, duplicate(parent));
  if (::mkdirat(parent.get(), name.c_str(), 0755) != 0) {
    return Error::from_errno("mkdir").with("cgroup " + name);
  }
  // From here on the group is ours: the destructor of `group` removes it when a later step fails.
  Cgroup group{std::move(above), Fd{}, std::move(name)};
  TRY(group.dir_, openat(parent, group.name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  auto limited = group.set_limits(limits);
  if (!limited) return std::move(limited).error().with("cgroup " + group.name_);
  return group;
}

Result<Cgroup> Cgroup::adopt(const Fd& parent, std::string name) {
  TRY(Fd above, duplicate(parent));
  TRY(Fd dir, openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return Cgroup{std::move(above), std::move(dir), std::move(name)};
}

Cgroup::~Cgroup() {
  if (parent_) static_cast<void>(kill_and_remove());
}

Status Cgroup::set_limits(const CgroupLimits& limits) const {
  TRY_DO(write_number(dir_, "memory.max", limits.memory_bytes));
  TRY_DO(write_number(dir_, "memory.swap.max", limits.swap_bytes));
  TRY_DO(write_number(dir_, "pids.max", limits.pids));
  if (limits.cpu) {
    TRY_DO(write_file(dir_, "cpu.max",
                      fmt::format("{} {}", limits.cpu->quota.count(), limits.cpu->period.count())));
  }
  for (const IoLimit& limit : limits.io) {
    TRY_DO(write_file(dir_, "io.max", io_line(limit)));
  }
  return {};
}

Status Cgroup::add(pid_t pid) const {
  return write_file(dir_, "cgroup.procs", std::to_string(pid));
}

Status Cgroup::kill() const { return write_file(dir_, "cgroup.kill", "1"); }
Status Cgroup::freeze() const { return write_file(dir_, "cgroup.freeze", "1"); }
Status Cgroup::thaw() const { return write_file(dir_, "cgroup.freeze", "0"); }

Result<CgroupEvents> Cgroup::events() const {
  TRY(const std::string text, read_file(dir_, "cgroup.events"));
  return CgroupEvents{.populated = parse_keyed(text, "populated").value_or(0) != 0,
                      .frozen = parse_keyed(text, "frozen").value_or(0) != 0};
}

Result<std::vector<pid_t>> Cgroup::processes() const {
  TRY(const std::string text, read_file(dir_, "cgroup.procs"));
  return parse_pids(text);
}

CgroupUsage Cgroup::usage() const {
  CgroupUsage usage{.memory_bytes = read_number(dir_, "memory.current"),
                    .memory_peak = read_number(dir_, "memory.peak"),
                    .oom_kills = read_keyed(dir_, "memory.events", "oom_kill"),
                    .pids = read_number(dir_, "pids.current"),
                    .pids_peak = read_number(dir_, "pids.peak"),
                    .pids_refused = read_keyed(dir_, "pids.events", "max"),
                    .cpu = {}};
  if (const auto spent = read_keyed(dir_, "cpu.stat", "usage_usec")) {
    usage.cpu = std::chrono::microseconds{*spent};
  }
  return usage;
}

Status Cgroup::remove() && {
  auto done = kill_and_remove();
  parent_ = Fd{};
  return done;
}

void Cgroup::leave() && noexcept {
  parent_ = Fd{};
  dir_ = Fd{};
}

Status Cgroup::kill_and_remove() {
  // Mostly nobody is left in it.
  if (::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  // Before 5.14 there is no cgroup.kill; the removal then reports what is left.
  if (dir_) static_cast<void>(kill());
  return remove_group_tree(parent_, name_, kRemovalTries);
}

Status enable_controllers(const Fd& parent, std::span<const std::string_view> controllers) {
  std::string command;
  for (const std::string_view controller : controllers) {
    command += fmt::format("{}+{}", command.empty() ? "" : " ", controller);
  }
  return write_file(parent, "cgroup.subtree_control", command);
}

Result<std::vector<std::string>> available_controllers(const Fd& group) {
  TRY(const std::string text, read_file(group, "cgroup.controllers"));
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ' ' || c == '\n') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  std::erase(names, "");
  return names;
}

}  // namespace cordon::os
