// SPDX-License-Identifier: Apache-2.0
// What of the host a sandbox will see, opened and fixed before the sandbox exists: each source is a
// detached mount with its final attributes, so that nothing is looked up by path again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launcher/erofs_roots.h"
#include "launcher/floor.h"
#include "launcher/floor_sources.h"
#include "os/fd.h"

namespace cordon::launcher {

// Ids as the launcher's own user namespace sees them.
struct HostIds {
  std::uint32_t workload_uid = 0;
  std::uint32_t workload_gid = 0;
  std::uint32_t init_uid = 0;
  std::uint32_t init_gid = 0;
  // Of 0 inside, which an engine serves files as; the workload's own where there is one id.
  std::uint32_t root_uid = 0;
  std::uint32_t root_gid = 0;
};

struct Source {
  std::string target;  // inside
  os::Fd tree;         // a detached mount; empty for a link
  std::string link;    // the host has a symbolic link there, which is made anew inside
  bool directory = true;
};

struct Sources {
  std::vector<Source> trees;  // in the order of mounting
  os::Fd workspace;           // the caller's directory; empty for a workspace on the own disk
  os::Fd state;               // of a review: holds upper and work, made here
  os::Fd root;                // where it gets a layer: the whole of it; else it is in `trees`
  os::Fd disk;                // the own disk where it is an image, detached; empty: a tmpfs
};

// Before: the caller is in a mount namespace of its own and may mount in it. With `ids` of a range
// the caller's directories are attached id-mapped: their owner appears as the workload.
Result<Sources> open_sources(const JudgedPlan& plan, const HostIds& ids,
                             const os::Fd& range_namespace, const FloorSources& floor,
                             ErofsRoots& roots);

}  // namespace cordon::launcher
