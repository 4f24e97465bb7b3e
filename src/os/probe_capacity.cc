// SPDX-License-Identifier: Apache-2.0
// Limits from /proc, rlimits and control groups, and the arithmetic over them.
#include "os/probe_capacity.h"

#include <algorithm>
#include <vector>

#include "os/cgroup_file.h"
#include "os/cgroup_layout.h"
#include "os/file.h"
#include "os/probe_sub_ids.h"
#include "os/rlimit.h"

namespace cordon::os {
namespace {

// The pieces of `text` between any of `separators`; empty ones are left out.
std::vector<std::string_view> pieces(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) found.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::optional<std::uint64_t> number_in_file(const std::string& path) {
  const auto text = read_file(at_cwd(), path.c_str());
  return text ? parse_number(*text) : std::nullopt;
}

std::optional<std::uint64_t> hard_limit(Rlimit kind) {
  const auto limit = get_rlimit(kind);
  return limit ? limit->hard : std::nullopt;
}

// Tried in a child: whoever may raise the limit past its hard value has room up to the kernel's.
std::optional<std::uint64_t> most_fds(const TrialLimit& limit) {
  const auto most = number_in_file("/proc/sys/fs/nr_open");
  const auto hard = hard_limit(Rlimit::open_files);
  if (!most || !hard || *most <= *hard) return hard;
  Trial raise = Trial::start([&] {
    const Status raised = set_rlimit(Rlimit::open_files, {.soft = most, .hard = most});
    return raised ? ok_fact() : refused_fact(raised.error());
  });
  const Fact raised = std::move(raise).finish(limit);
  return raised.support == Support::ok ? most : hard;
}

void lower_to(std::optional<std::uint64_t>& least, const std::optional<std::uint64_t>& other) {
  if (other && (!least || *other < *least)) least = other;
}

// Threads that live now: the second number of "0.1 0.2 0.3 1/234 567".
std::uint64_t threads_in_use() {
  const auto text = read_file(at_cwd(), "/proc/loadavg");
  if (!text) return 0;
  const std::size_t slash = text->find('/');
  if (slash == std::string::npos) return 0;
  return parse_number(std::string_view{*text}.substr(slash + 1)).value_or(0);
}

// The smallest room that our group and those above it leave, as far as the mount shows them.
std::optional<std::uint64_t> room_in_groups() {
  const auto trees = read_cgroup_trees();
  if (!trees) return std::nullopt;
  const CgroupHierarchy* tree = trees->v1("pids");
  if (tree == nullptr) tree = trees->v2();
  if (tree == nullptr || !tree->own) return std::nullopt;
  std::optional<std::uint64_t> least;
  std::string path = *tree->own;
  for (;;) {
    const auto most = number_in_file(path + "/pids.max");
    const auto used = number_in_file(path + "/pids.current");
    if (most) lower_to(least, *most - std::min(*most, used.value_or(0)));
    if (path.size() <= tree->mount.path.size()) break;
    path.resize(path.rfind('/'));
  }
  return least;
}

std::optional<std::uint64_t> room_for_pids(const Caller& caller) {
  std::optional<std::uint64_t> least;
  const std::uint64_t used = threads_in_use();
  for (const char* const path : {"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"}) {
    const auto most = number_in_file(path);
    if (most) lower_to(least, *most - std::min(*most, used));
  }
  // Root is not held to it.
  if (!caller.root) lower_to(least, hard_limit(Rlimit::processes));
  lower_to(least, room_in_groups());
  return least;
}

std::optional<std::uint64_t> ids_to_give(const Caller& caller) {
  if (caller.root) {
    const auto map = read_file(at_cwd(), "/proc/self/uid_map");
    return map ? std::optional{spare_ids(*map)} : std::nullopt;
  }
  // Without a range all sandboxes share the caller's own id: nothing to run out of.
  const auto ranges = find_sub_ids(caller);
  return ranges ? std::optional{ranges->uids.count} : std::nullopt;
}

}  // namespace

Capacity capacity_of(const Limits& limits) {
  Capacity capacity;
  if (limits.fds) {
    capacity.by_fds = (*limits.fds - std::min(*limits.fds, kReservedFds)) / kFdsPerSandbox;
  }
  if (limits.pids) capacity.by_pids = *limits.pids / kPidsPerSandbox;
  if (limits.ids) capacity.by_ids = *limits.ids / (limits.root ? kIdsPerSandbox : 1);
  return capacity;
}

Capacity probe_capacity(const Caller& caller, const TrialLimit& limit) {
  return capacity_of({.fds = most_fds(limit),
                      .pids = room_for_pids(caller),
                      .ids = ids_to_give(caller),
                      .root = caller.root});
}

std::uint64_t spare_ids(std::string_view uid_map) {
  constexpr std::uint64_t kNoId = 0xFFFFFFFF;  // (uid_t)-1 names nobody
  std::uint64_t spare = 0;
  for (const std::string_view line : pieces(uid_map, "\n")) {
    const auto fields = pieces(line, " \t");
    if (fields.size() != 3) continue;
    const auto inside = parse_number(fields[0]);
    const auto count = parse_number(fields[2]);
    if (!inside || !count) continue;
    const std::uint64_t first = std::max(*inside, kIdsPerSandbox);
    const std::uint64_t end = std::min(*inside + *count, kNoId);
    if (end > first) spare += end - first;
  }
  return spare;
}

}  // namespace cordon::os
