// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_place.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "os/fd.h"
#include "os/file.h"

namespace cordon::os {
namespace {

// Our own group and those above it, as far as the mount shows them.
std::vector<std::string> candidates(const CgroupHierarchy& tree) {
  std::vector<std::string> paths;
  if (!tree.own) return paths;
  std::string path = *tree.own;
  for (;;) {
    paths.push_back(path);
    if (path.size() <= tree.mount.path.size()) return paths;
    path.resize(path.rfind('/'));
  }
}

bool may_write(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

// A process moves only where its mover may write the members of the group above both places.
bool is_usable(const std::string& group) {
  return may_write(group) && may_write(group + "/cgroup.procs");
}

std::size_t count_handed_on(const std::string& group) {
  const auto text = read_file(at_cwd(), (group + "/cgroup.subtree_control").c_str());
  if (!text) return 0;
  const std::string words = " " + text->substr(0, text->find('\n')) + " ";
  return static_cast<std::size_t>(
      std::ranges::count_if(kLimitControllers, [&](std::string_view controller) {
        return words.find(" " + std::string{controller} + " ") != std::string::npos;
      }));
}

}  // namespace

std::optional<std::string> place_of_groups(const CgroupHierarchy& tree) {
  std::optional<std::string> best;
  std::size_t most = 0;
  for (std::string& path : candidates(tree)) {
    if (!is_usable(path)) continue;
    const std::size_t count = count_handed_on(path);
    if (best && count <= most) continue;
    best = std::move(path);
    most = count;
  }
  return best;
}

}  // namespace cordon::os
