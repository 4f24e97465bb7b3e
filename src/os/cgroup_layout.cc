// SPDX-License-Identifier: Apache-2.0
// Parsers of mountinfo and of /proc/PID/cgroup.
#include "os/cgroup_layout.h"

#include <algorithm>
#include <array>

#include "os/file.h"

namespace cordon::os {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text.size() >= 4 && text[0] == '\\' && std::ranges::all_of(text.substr(1, 3), is_octal)) {
      plain += static_cast<char>((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
      text.remove_prefix(4);
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

// The super options of a v1 mount mix controllers with these.
bool is_controller(std::string_view option) {
  constexpr std::array<std::string_view, 6> kOthers{"rw",       "ro",       "xattr",
                                                    "noprefix", "seclabel", "cpuset_v2_mode"};
  return std::ranges::find(kOthers, option) == kOthers.end() &&
         !option.starts_with("release_agent=") && !option.starts_with("clone_children");
}

std::optional<CgroupMount> parse_mount(std::string_view line) {
  // 36 35 98:0 /root /mount/point rw,noatime [optional…] - type source super,options
  const std::vector<std::string_view> fields = split(line, ' ');
  const auto dash = std::ranges::find(fields, "-");
  if (fields.size() < 10 || dash - fields.begin() < 6 || fields.end() - dash < 4) return {};
  const std::string_view type = dash[1];
  if (type != "cgroup" && type != "cgroup2") return {};

  CgroupMount mount{
      .v2 = type == "cgroup2", .path = unescape(fields[4]), .root = unescape(fields[3])};
  const auto options = split(fields[5], ',');
  mount.read_only = std::ranges::find(options, "ro") != options.end();
  if (!mount.v2) {
    for (const std::string_view option : split(dash[3], ',')) {
      if (is_controller(option)) mount.controllers.emplace_back(option);
    }
  }
  return mount;
}

bool is_below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

std::optional<std::string> own_directory(const CgroupMount& mount, std::string_view group) {
  if (group.starts_with("/..")) return {};
  std::string_view rest = group;
  if (mount.root != "/") {
    if (!is_below(group, mount.root)) return {};
    rest.remove_prefix(mount.root.size());
  }
  if (rest == "/") rest = {};
  return mount.path + std::string{rest};
}

bool same_hierarchy(const CgroupMount& a, const CgroupMount& b) {
  return a.v2 == b.v2 && a.controllers == b.controllers;
}

// Co-mounted controllers may be listed in another order, so one in common decides.
bool describes(const CgroupMembership& member, const CgroupMount& mount) {
  if (mount.v2) return member.controllers.empty();
  return std::ranges::find_first_of(member.controllers, mount.controllers) !=
         member.controllers.end();
}

CgroupLayout layout_of(const std::vector<CgroupHierarchy>& hierarchies) {
  bool v1 = false;
  bool v2 = false;
  for (const CgroupHierarchy& tree : hierarchies) {
    v2 = v2 || tree.mount.v2;
    v1 = v1 || !tree.mount.v2;
  }
  if (v1 && v2) return CgroupLayout::hybrid;
  if (v1) return CgroupLayout::v1;
  return v2 ? CgroupLayout::v2 : CgroupLayout::none;
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    if (auto mount = parse_mount(line)) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

std::vector<CgroupMembership> parse_cgroup_memberships(std::string_view text) {
  std::vector<CgroupMembership> memberships;
  for (const std::string_view line : split(text, '\n')) {
    // 4:cpu,cpuacct:/a/b — the path may itself hold colons.
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    CgroupMembership member{.path = std::string{line.substr(second + 1)}};
    for (const auto name : split(line.substr(first + 1, second - first - 1), ',')) {
      member.controllers.emplace_back(name);
    }
    memberships.push_back(std::move(member));
  }
  return memberships;
}

const CgroupHierarchy* CgroupTrees::v2() const noexcept {
  const auto found = std::ranges::find_if(hierarchies, [](const auto& h) { return h.mount.v2; });
  return found == hierarchies.end() ? nullptr : &*found;
}

const CgroupHierarchy* CgroupTrees::v1(std::string_view controller) const noexcept {
  for (const CgroupHierarchy& tree : hierarchies) {
    if (std::ranges::find(tree.mount.controllers, controller) != tree.mount.controllers.end()) {
      return &tree;
    }
  }
  return nullptr;
}

CgroupTrees locate_cgroups(std::string_view mountinfo, std::string_view memberships) {
  const std::vector<CgroupMembership> members = parse_cgroup_memberships(memberships);
  CgroupTrees trees;
  for (CgroupMount& mount : parse_cgroup_mounts(mountinfo)) {
    CgroupHierarchy tree{.mount = std::move(mount), .own = {}};
    for (const CgroupMembership& member : members) {
      if (describes(member, tree.mount)) tree.own = own_directory(tree.mount, member.path);
    }
    const auto known = std::ranges::find_if(trees.hierarchies, [&](const CgroupHierarchy& other) {
      return same_hierarchy(other.mount, tree.mount);
    });
    if (known == trees.hierarchies.end()) {
      trees.hierarchies.push_back(std::move(tree));
    } else if (!known->own) {
      // Mounted twice: the view that shows our own group is the useful one.
      *known = std::move(tree);
    }
  }
  trees.layout = layout_of(trees.hierarchies);
  return trees;
}

Result<CgroupTrees> read_cgroup_trees() {
  constexpr std::size_t kMostMountinfo = std::size_t{16} << 20U;
  TRY(const std::string mountinfo, read_file(at_cwd(), "/proc/self/mountinfo", kMostMountinfo));
  TRY(const std::string memberships, read_file(at_cwd(), "/proc/self/cgroup"));
  return locate_cgroups(mountinfo, memberships);
}

}  // namespace cordon::os
