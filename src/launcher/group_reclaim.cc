// SPDX-License-Identifier: Apache-2.0
#include "launcher/group_reclaim.h"

#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "os/directory.h"
#include "os/file.h"
#include "os/process_stat.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kMostGroups = 100'000;
constexpr std::string_view kGroupPrefix = "cordon-";

// True when the launcher that made a group of this name has ended, or the name is none of ours in
// full and tells nothing: then it stays.
bool maker_is_dead(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  const std::size_t dot = name.rfind('.');
  if (dash == std::string_view::npos || dot == std::string_view::npos || dot < dash) return false;
  pid_t pid = 0;
  const std::string_view digits = name.substr(dash + 1, dot - dash - 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (error != std::errc{} || end != digits.data() + digits.size() || pid <= 0) return false;
  const auto maker = os::read_process_stat(pid);
  // Only what is known to be gone counts as dead.
  if (!maker) return maker.error().code() == Errc::not_found;
  return maker->has_ended() || std::to_string(maker->started) != name.substr(dot + 1);
}

std::size_t reclaim_in(const std::string& path) {
  std::size_t removed = 0;
  const auto dir = os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
  if (!dir) return 0;
  const auto names = os::list_directory(*dir, kMostGroups);
  if (!names) return 0;
  for (const std::string& name : *names) {
    if (!name.starts_with(kGroupPrefix) || !maker_is_dead(name)) continue;
    // Refused (EBUSY) while a process lives in it: then its pid 1 still has a node.
    if (::unlinkat(dir->get(), name.c_str(), AT_REMOVEDIR) == 0) ++removed;
  }
  return removed;
}

}  // namespace

Result<std::string> group_name(const std::string& id) {
  TRY(const os::ProcessStat self, os::read_process_stat(::getpid()));
  return fmt::format("{}{}-{}.{}", kGroupPrefix, id, ::getpid(), self.started);
}

std::size_t reclaim_groups(const os::CgroupTrees& trees) {
  std::size_t removed = 0;
  for (const os::CgroupHierarchy& tree : trees.hierarchies) {
    if (tree.own) removed += reclaim_in(*tree.own);
  }
  return removed;
}

}  // namespace cordon::launcher
