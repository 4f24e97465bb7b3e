// SPDX-License-Identifier: Apache-2.0
// What will come of a call that is about to be done: looked up in the sandbox's own tree, from
// outside. A call that a fence refuses changes nothing, so this may be asked a little later too.
#pragma once

#include <optional>
#include <span>

#include "frame/fences.h"
#include "monitor/intent.h"
#include "monitor/seen.h"
#include "os/fd.h"

namespace cordon::monitor {

struct Ground {
  const os::Fd& root;  // of the sandbox
  std::span<const frame::PathRule> rules;
  bool has_landlock = false;
  os::KnownMounts& mounts;  // of this sandbox
};

// Its result is 0 where nothing stands in the way, the errno of the fence that does, or of the
// ordinary error that comes first. Nothing: it cannot be told.
std::optional<Seen> foresee(const Intent& intent, const Ground& ground);

}  // namespace cordon::monitor
