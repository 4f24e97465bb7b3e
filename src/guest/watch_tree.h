// SPDX-License-Identifier: Apache-2.0
// Which directories one watch looks at, and by which names: inotify's descriptors to paths.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "frame/guest.h"
#include "os/fd.h"

struct inotify_event;

namespace cordon::guest {

// Everything is found from what it begins with, and no link is followed below: it never looks at
// anything outside. Nothing is held open meanwhile: who holds a directory does not see its removal.
class WatchTree {
 public:
  // Opens what is watched with O_PATH: a directory, or a file where nothing is below. Asked again
  // it may give another one, which is passed over.
  using Opener = std::function<Result<os::Fd>()>;
  static Result<WatchTree> create(Opener open, bool recursive);

  const os::Fd& inotify() const noexcept { return inotify_; }

  // One read of what inotify has, into events and `lost`. False: what was watched is gone.
  Result<bool> read(frame::WatchEvents& into);

 private:
  WatchTree(Opener open, os::Fd inotify, bool recursive);

  Result<os::Fd> open_root() const;
  Status add(const os::Fd& directory, const std::string& path);
  // With all below it; `made`: what is found there is told as made.
  void add_all(const std::string& path, frame::WatchEvents* made);
  // The directories in one go to `left`.
  void look_into(const os::Fd& directory, const std::string& path, frame::WatchEvents* made,
                 std::vector<std::string>& left);
  void drop_all(const std::string& path);
  Result<os::Fd> find(const std::string& path) const;
  bool take(const inotify_event& event, std::string_view name, frame::WatchEvents& into);

  Opener open_;
  dev_t device_ = 0;  // of the root
  ino_t inode_ = 0;
  os::Fd inotify_;
  bool recursive_;
  bool lost_ = false;                 // not all could be watched, and nobody was told yet
  std::map<int, std::string> paths_;  // by inotify's number; of the root empty
};

}  // namespace cordon::guest
