// SPDX-License-Identifier: Apache-2.0
// A file tree as a guest's kernel asks for it (FUSE), served with the rights of the process that
// serves: what the host's kernel refuses to it, it refuses to the guest. Links are followed by the
// guest alone, names are looked up below the tree's root and nowhere else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <vector>

#include "base/result.h"
#include "files/nodes.h"
#include "files/request.h"
#include "os/fd.h"

namespace cordon::files {

// A guest's kernel believes what it was told for so long; then it asks again, because somebody on
// the host may work in the same directory.
inline constexpr std::uint64_t kBelieved = 1;  // seconds

// Whether a guest may set them. What is written to the host keeps the rights of who runs it there;
// what ends with the sandbox may have them, as in a sandbox without a machine.
enum class SetIds : bool { refused, kept };

// The numbers of these names of a root are the first of every tree that has them: a machine that
// was saved knows them, and begins with another tree.
inline constexpr std::array kFirstNames{"dev", "proc"};

class TreeServer {
 public:
  // `root`: a directory, O_PATH. Before: the umask is 0, and what the process may not write it
  // cannot.
  // `believed`: in seconds, kBelieved or less.
  explicit TreeServer(os::Fd root, SetIds set_ids = SetIds::refused,
                      std::uint64_t believed = kBelieved)
      : nodes_{std::move(root)}, set_ids_{set_ids}, believed_{believed} {
    number_first_names();
  }

  // An errno, 0 where it was done; nothing for a request that has no answer.
  std::optional<int> answer(Request& request, Reply& reply);

  std::size_t known() const noexcept { return nodes_.size(); }

 private:
  struct Handle {
    os::Fd file;
    NodeId node;
  };

  // tree_attributes.cc
  Status init(Request& request, Reply& reply);
  Status get_attributes(Request& request, Reply& reply);
  Status set_attributes(Request& request, Reply& reply);
  Status status_of_system(Request& request, Reply& reply);
  Result<struct stat> stat_of(NodeId id) const;
  fuse_attr shown(const struct stat& st);
  Result<fuse_entry_out> entry_of(NodeId parent, std::string_view name, const struct stat& st);
  void forget_many(Request& request);

  // tree_names.cc
  void number_first_names();
  Status look_up(Request& request, Reply& reply);
  Status read_link(Request& request, Reply& reply);
  Status make_link(Request& request, Reply& reply);  // symbolic
  Status make_node(Request& request, Reply& reply);
  Status make_directory(Request& request, Reply& reply);
  Status remove(Request& request, int flags);
  Status rename(NodeId to, unsigned flags, Request& request);
  Status link(Request& request, Reply& reply);
  Status tell_new(NodeId parent, std::string_view name, const os::Fd& directory, Reply& reply);

  // tree_data.cc
  Status create(Request& request, Reply& reply);
  Status open(Request& request, Reply& reply);
  Status read(Request& request, Reply& reply);
  Status write(Request& request, Reply& reply);
  Status release(Request& request);
  Status synchronize(Request& request);
  Status allocate(Request& request);
  Status seek(Request& request, Reply& reply);
  Status open_directory(Request& request, Reply& reply);
  Status read_directory(Request& request, Reply& reply, bool with_entries);
  Status add_entry(NodeId parent, const os::Fd& directory, std::string_view name,
                   const fuse_dirent& entry, std::size_t most, Reply& reply);
  std::uint64_t keep(os::Fd file, NodeId node);
  Result<const os::Fd*> handle(std::uint64_t number) const;

  Status dispatch(Request& request, Reply& reply);

  // Of a mode that a guest asks for.
  mode_t permissions(mode_t mode) const {
    return mode & (set_ids_ == SetIds::kept ? 07777 : 01777);
  }

  Nodes nodes_;
  SetIds set_ids_;
  std::uint64_t believed_;
  std::map<std::uint64_t, Handle> handles_;
  std::uint64_t last_handle_ = 0;
  std::vector<std::uint64_t> devices_;  // as seen so far: a number of ours for each
};

// For a request that is shorter than its kind, or asks for what has no meaning.
inline Error senseless() { return Error::from_errno("request", EINVAL); }

}  // namespace cordon::files
