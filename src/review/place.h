// SPDX-License-Identifier: Apache-2.0
// Puts single changes in place in the workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "review/change.h"

namespace cordon::review {

struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

// The directory that holds the last component of a relative path, and that component. No link is
// followed on the way.
struct Place {
  os::Fd dir;
  std::string name;
};
Result<Place> open_place(const os::Fd& root, const std::string& path);

class Placer {
 public:
  // `owner` is empty where this process cannot give files away.
  Placer(const os::Fd& upper, const os::Fd& workspace, std::optional<Owner> owner)
      : upper_{upper}, workspace_{workspace}, owner_{owner} {}

  // Before: parents have been put in place. Refused when the workspace's entry is no longer the one
  // that `change` was compared with.
  Status put(const Change& change);
  // Gives the directories their final modes: until then they are open to us, so that what they hold
  // can be put there. Gives those that could not be.
  std::vector<NotApplied> finish();

 private:
  struct Mode {
    std::string path;
    std::uint32_t mode;
  };

  Status put_file(const Change& change, const Place& place);
  Status put_link(const Change& change, const Place& place);
  Status put_directory(const Change& change, const Place& place);
  Status change_mode(const Change& change, const Place& place);
  Status give(const os::Fd& fd) const;

  const os::Fd& upper_;
  const os::Fd& workspace_;
  std::optional<Owner> owner_;
  std::vector<Mode> modes_;
};

}  // namespace cordon::review
