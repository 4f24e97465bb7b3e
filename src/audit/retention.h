// SPDX-License-Identifier: Apache-2.0
// Records that need not be kept any more: they go by whole segments, and leave their hashes, by
// which all that is kept, and every signed head, can still be verified.
#pragma once

#include <cstdint>

#include "audit/log.h"
#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

struct Dropped {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  // that are free again
  friend bool operator==(const Dropped&, const Dropped&) = default;
};

// Drops the segments all of whose records are older than `time`; never the last. `log` says so
// before it happens. `denied`: one of them is not as its writers left it: it stays, and those
// behind it. `directory`: of `log`, open for reading.
Result<Dropped> drop_older(Log& log, const os::Fd& directory, WallTime time);

}  // namespace cordon::audit
