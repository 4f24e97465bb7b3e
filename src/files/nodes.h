// SPDX-License-Identifier: Apache-2.0
// What a guest's kernel knows of a file tree: a number for each name that it has looked up, until
// it forgets it. A number stands for a name below another's, so that it costs no descriptor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::files {

using NodeId = std::uint64_t;
inline constexpr NodeId kRoot = 1;

// Which file a name had when it was looked up: under another one it is another node.
struct FileKey {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  mode_t kind = 0;  // S_IFMT
  friend bool operator==(const FileKey&, const FileKey&) = default;
};

// Where a node is: a name in a directory.
struct Place {
  os::Fd directory;  // O_PATH
  std::string name;  // "." of the root
};

class Nodes {
 public:
  explicit Nodes(os::Fd root);

  // One more lookup of it. `exhausted`: the guest knows more than it may.
  Result<NodeId> found(NodeId parent, std::string_view name, const FileKey& key);
  void forget(NodeId id, std::uint64_t times);

  // Errors are the kernel's: ENOENT for what is not known.
  Result<os::Fd> open_directory(NodeId id) const;  // O_PATH
  Result<Place> place_of(NodeId id) const;

  // After the file system has done the same. A node without a name stays known until it is
  // forgotten.
  void unnamed(NodeId parent, std::string_view name);
  void renamed(NodeId parent, std::string_view name, NodeId to, std::string_view new_name);
  void exchanged(NodeId parent, std::string_view name, NodeId to, std::string_view new_name);

  std::size_t size() const noexcept { return nodes_.size(); }

 private:
  struct Node {
    NodeId parent = 0;
    std::string name;
    FileKey key;
    std::uint64_t lookups = 0;
    bool named = true;
  };
  using Name = std::pair<NodeId, std::string>;

  Result<std::string> path_of(NodeId id) const;
  void drop_if_done(NodeId id);
  void put(NodeId id, NodeId parent, std::string_view name);

  os::Fd root_;
  std::unordered_map<NodeId, Node> nodes_;
  std::map<Name, NodeId, std::less<>> names_;
  NodeId last_ = kRoot;  // numbers are never used again
};

// One component of a path, as a guest's kernel would ask for.
bool is_name(std::string_view name) noexcept;

}  // namespace cordon::files
