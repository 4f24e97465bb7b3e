// SPDX-License-Identifier: Apache-2.0
// Where a log ends, as its writers tell each other: the next one need not read what was written.
// Only a convenience: it is believed for as long as the machine is up, and holds nothing that the
// log does not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/tree_range.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

using BootId = std::array<std::byte, 16>;
Result<BootId> this_boot();

// The end of a log: in which segment, how far, and what the next record needs to know of all
// before.
struct LogEnd {
  std::string log;            // its id
  std::uint64_t segment = 0;  // the number of its first record
  std::uint64_t offset = 0;   // of the next record in that file
  Digest before{};
  TreeRange tree{};
  friend bool operator==(const LogEnd&, const LogEnd&) = default;
};

std::vector<std::byte> encode(const LogEnd& end, const BootId& boot);
// Nothing: it is of another start of the machine, or was never written.
std::optional<LogEnd> decode_end(std::span<const std::byte> bytes, const BootId& boot);

// It goes into one page of a file: a writer that dies leaves the old or the new one.
inline constexpr std::size_t kTailSize = 4096;
Status write_tail(const os::Fd& file, const LogEnd& end, const BootId& boot);
std::optional<LogEnd> read_tail(const os::Fd& file, const BootId& boot);

}  // namespace cordon::audit
