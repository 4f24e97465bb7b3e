// SPDX-License-Identifier: Apache-2.0
// File systems in files, each mounted once for all sandboxes that begin with it: its pages are in
// memory once.
#pragma once

#include <cstdint>
#include <list>

#include "base/result.h"
#include "frame/launch_plan.h"
#include "os/fd.h"

namespace cordon::launcher {

class ErofsRoots {
 public:
  // The top of the mounted file, which this holds for a while. Before: the caller is in a mount
  // namespace of its own, as root. `denied`: the file is not the caller's own. `invalid`: it has
  // not the digest that the plan names; it is read whole only where it was touched since somebody
  // else read it.
  Result<os::Fd> open(const os::Fd& file, const frame::RootFile& wanted);

 private:
  struct Mounted {
    std::string digest;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t changed = 0;
    os::Fd top;
  };
  std::list<Mounted> mounted_;  // what was used last comes first
};

}  // namespace cordon::launcher
