// SPDX-License-Identifier: Apache-2.0
// From /etc/subuid, /etc/subgid and the two helpers that honour them.
#include "os/probe_sub_ids.h"

#include <algorithm>
#include <array>
#include <unistd.h>

#include <fmt/format.h>

#include "os/cgroup_file.h"
#include "os/file.h"

namespace cordon::os {
namespace {

constexpr std::uint64_t kUsualFirst = 100'000;
constexpr std::uint64_t kUsualCount = 65'536;

std::string text_of(const char* path) {
  auto text = read_file(at_cwd(), path);
  return text ? *std::move(text) : std::string{};
}

std::string name_of(const Caller& caller) { return login_name(text_of("/etc/passwd"), caller.uid); }

bool is_executable(const char* path) { return ::access(path, X_OK) == 0; }

bool helpers_installed() {
  return is_executable("/usr/bin/newuidmap") && is_executable("/usr/bin/newgidmap");
}

SubordinateIds first_range(const char* path, const std::string& name, uid_t id) {
  const auto ranges = parse_subordinate_ids(text_of(path), name, id);
  return ranges.empty() ? SubordinateIds{} : ranges.front();
}

std::array<IdRange, 2> own_and(std::uint32_t own, const SubordinateIds& range) {
  return {IdRange{.inside = 0, .outside = own, .count = 1},
          IdRange{.inside = 1, .outside = range.first, .count = range.count}};
}

}  // namespace

Result<SubIds> find_sub_ids(const Caller& caller) {
  if (!helpers_installed()) {
    return Error{Errc::not_found, "newuidmap and newgidmap are not installed"};
  }
  const std::string name = name_of(caller);
  const SubIds ranges{first_range("/etc/subuid", name, caller.uid),
                      first_range("/etc/subgid", name, caller.uid)};
  if (ranges.uids.count > 0 && ranges.gids.count > 0) return ranges;
  return Error{
      Errc::not_found,
      fmt::format("no range in {} for {}", ranges.uids.count == 0 ? "/etc/subuid" : "/etc/subgid",
                  name.empty() ? fmt::format("user {}", caller.uid) : name)};
}

std::string sub_ids_remedy(const Caller& caller) {
  if (!helpers_installed()) {
    return is_executable("/usr/bin/apt-get") ? "sudo apt-get install uidmap" : "";
  }
  const std::string name = name_of(caller);
  if (name.empty() || !is_executable("/usr/sbin/usermod")) return {};
  const std::uint64_t first =
      std::max(next_free_sub_id(text_of("/etc/subuid")), next_free_sub_id(text_of("/etc/subgid")));
  const std::uint64_t last = first + kUsualCount - 1;
  return fmt::format("sudo usermod --add-subuids {0}-{1} --add-subgids {0}-{1} {2}", first, last,
                     name);
}

std::uint64_t next_free_sub_id(std::string_view text) {
  std::uint64_t next = kUsualFirst;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find(':');
    const std::size_t count = line.rfind(':');
    if (first == count) continue;
    const auto begin = parse_number(line.substr(first + 1, count - first - 1));
    const auto size = parse_number(line.substr(count + 1));
    if (begin && size) next = std::max(next, *begin + *size);
  }
  return next;
}

Status map_sub_ids(const Caller& caller, const SubIds& ranges, pid_t pid) {
  TRY_DO(run_newuidmap(pid, own_and(caller.uid, ranges.uids)));
  return run_newgidmap(pid, own_and(caller.gid, ranges.gids));
}

}  // namespace cordon::os
