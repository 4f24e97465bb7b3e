// SPDX-License-Identifier: Apache-2.0
// The files of a log: each begins with a line that says where in the log it stands, so that one can
// be read, and written on, without those before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/tree_range.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

struct SegmentHead {
  std::string log;  // its id: base-32, the same in all segments
  Digest before{};  // the leaf hash of the last record before this segment; zeros for the first
  TreeRange tree;   // of all records before; its end is the number of the first one here
  friend bool operator==(const SegmentHead&, const SegmentHead&) = default;
};

// The line, without a newline; canonical, as records are.
std::string encode(const SegmentHead& head);
Result<SegmentHead> decode_segment_head(std::string_view line);

// "00000000000000000042.log": sorted by name they are in order.
std::string segment_name(std::uint64_t first);

// "00000000000000000042.leaves": where the segment was dropped, the leaf hashes of its records, one
// behind the other.
std::string leaves_name(std::uint64_t first);
// As list_segments, of those that were dropped.
Result<std::vector<std::uint64_t>> list_leaves(const os::Fd& directory);

// First numbers of all segments of the log in `directory`, which is open for reading, in order.
Result<std::vector<std::uint64_t>> list_segments(const os::Fd& directory);

// Where a record stands: all that a reader must know of its event to check its place.
struct Link {
  std::uint64_t number = 0;
  Digest before{};
};
// Of the line of a record of any version, whose events need not be known here.
Result<Link> link_of(std::string_view line);

}  // namespace cordon::audit
