// SPDX-License-Identifier: Apache-2.0
#include "files/nodes.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <ranges>
#include <vector>

#include <climits>

#include "os/openat2.h"

namespace cordon::files {
namespace {

constexpr std::size_t kMostNodes = std::size_t{1} << 20U;
constexpr std::size_t kDeepest = PATH_MAX / 2;  // of any path that can be named

}  // namespace

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= NAME_MAX && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

Nodes::Nodes(os::Fd root) : root_{std::move(root)} {
  Node top;
  top.lookups = 1;
  nodes_.emplace(kRoot, std::move(top));
}

Result<NodeId> Nodes::found(NodeId parent, std::string_view name, const FileKey& key) {
  const auto known = names_.find(Name{parent, name});
  if (known != names_.end()) {
    Node& node = nodes_.at(known->second);
    if (node.key == key) {
      ++node.lookups;
      return known->second;
    }
    unnamed(parent, name);  // somebody on the host has put another file there
  }
  if (nodes_.size() >= kMostNodes) return Error::from_errno("lookup", ENOMEM);
  const NodeId id = ++last_;
  Node node;
  node.key = key;
  node.lookups = 1;
  nodes_.emplace(id, std::move(node));
  put(id, parent, name);
  return id;
}

void Nodes::put(NodeId id, NodeId parent, std::string_view name) {
  Node& node = nodes_.at(id);
  node.parent = parent;
  node.name = name;
  node.named = true;
  names_.insert_or_assign(Name{parent, name}, id);
}

void Nodes::drop_if_done(NodeId id) {
  const auto at = nodes_.find(id);
  if (id == kRoot || at == nodes_.end() || at->second.lookups > 0) return;
  if (at->second.named) names_.erase(Name{at->second.parent, at->second.name});
  nodes_.erase(at);
}

void Nodes::forget(NodeId id, std::uint64_t times) {
  const auto at = nodes_.find(id);
  if (id == kRoot || at == nodes_.end()) return;
  at->second.lookups -= std::min(times, at->second.lookups);
  drop_if_done(id);
}

// Climbs as far as there are parents; a guest that has forgotten one of them, or has made a circle,
// asks for nothing that is there.
Result<std::string> Nodes::path_of(NodeId id) const {
  std::vector<std::string_view> names;
  for (NodeId at = id; at != kRoot;) {
    const auto node = nodes_.find(at);
    if (node == nodes_.end() || !node->second.named) return Error::from_errno("node", ENOENT);
    if (names.size() > kDeepest) return Error::from_errno("node", ENAMETOOLONG);
    names.emplace_back(node->second.name);
    at = node->second.parent;
  }
  std::string path{"."};
  for (const std::string_view name : names | std::views::reverse) {
    path += '/';
    path += name;
  }
  return path;
}

Result<os::Fd> Nodes::open_directory(NodeId id) const {
  TRY(const std::string path, path_of(id));
  return os::open_beneath(root_, path.c_str(),
                          {.flags = O_PATH | O_DIRECTORY, .symlinks = os::Symlinks::refused});
}

Result<Place> Nodes::place_of(NodeId id) const {
  const auto at = nodes_.find(id);
  if (at == nodes_.end()) return Error::from_errno("node", ENOENT);
  if (!at->second.named) return Error::from_errno("node", ENOENT);
  Place place;
  if (id == kRoot) {
    TRY(place.directory, open_directory(kRoot));
    place.name = ".";
    return place;
  }
  TRY(place.directory, open_directory(at->second.parent));
  place.name = at->second.name;
  return place;
}

void Nodes::unnamed(NodeId parent, std::string_view name) {
  const auto known = names_.find(Name{parent, name});
  if (known == names_.end()) return;
  const NodeId id = known->second;
  nodes_.at(id).named = false;
  names_.erase(known);
  drop_if_done(id);
}

void Nodes::renamed(NodeId parent, std::string_view name, NodeId to, std::string_view new_name) {
  const auto known = names_.find(Name{parent, name});
  if (known == names_.end()) return;
  const NodeId id = known->second;
  names_.erase(known);
  put(id, to, new_name);
}

void Nodes::exchanged(NodeId parent, std::string_view name, NodeId to, std::string_view new_name) {
  const auto one = names_.find(Name{parent, name});
  const auto two = names_.find(Name{to, new_name});
  const NodeId first = one == names_.end() ? 0 : one->second;
  const NodeId second = two == names_.end() ? 0 : two->second;
  if (one != names_.end()) names_.erase(one);
  if (const auto left = names_.find(Name{to, new_name}); left != names_.end()) names_.erase(left);
  if (first != 0) put(first, to, new_name);
  if (second != 0) put(second, parent, name);
}

}  // namespace cordon::files
