// SPDX-License-Identifier: Apache-2.0
// The spawner: behind all fences of a workload, it waits for one start request and becomes the
// program.
#pragma once

#include "frame/fences.h"
#include "guest/filter_profile.h"
#include "os/fd.h"

namespace cordon::guest {

// Takes the second descent and serves pid 1 at the other end of `link` until that closes, or until
// it is asked to start. For a process just forked from pid 1: it keeps nothing of pid 1's but
// `link`, and ends here. Without `fences` they come over `link`, and then the word to go on.
// `has_oom_score`: from pid 1, by the fork. `witness`: where a filter's listener goes; may be none.
[[noreturn]] void be_spawner(os::Fd link, const frame::Fences* fences, FilterLookup find_filter,
                             bool has_oom_score, const os::Fd* witness);

}  // namespace cordon::guest
