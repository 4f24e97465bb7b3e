// SPDX-License-Identifier: Apache-2.0
#include "audit/added_range.h"

#include <fcntl.h>
#include <utility>

#include "audit/leaves.h"
#include "audit/segment.h"
#include "base/bytes.h"
#include "os/file.h"

namespace cordon::audit {

Result<std::string> read_log_id(const os::Fd& directory) {
  TRY(const auto segments, list_segments(directory));
  if (segments.empty()) return Error{Errc::not_found, "audit log: there is none here"};
  TRY(const os::Fd file,
      os::openat(directory, segment_name(segments.back()).c_str(), O_RDONLY | O_NOFOLLOW));
  SegmentLines lines{file, 0};
  TRY(const auto line, lines.next());
  TRY(SegmentHead head,
      line ? decode_segment_head(*line) : Error{Errc::invalid, "audit log: a segment has no head"});
  return std::move(head.log);
}

Result<AddedRange> AddedRange::open(os::Fd directory, std::uint64_t first) {
  if (first > 0) {
    TRY(LogReader reader, LogReader::open(std::move(directory), first));
    return AddedRange{std::move(reader)};
  }
  TreeRange dropped;
  TRY_DO(read_all_leaves(directory, [&](const Digest& leaf) { dropped.add(leaf); }));
  TRY(LogReader reader, LogReader::open(std::move(directory), dropped.end()));
  AddedRange added{std::move(reader)};
  added.dropped_ = std::move(dropped);
  return added;
}

Result<TreeRange> AddedRange::read() {
  TreeRange range{reader_.number()};
  if (dropped_) {
    range = *std::move(dropped_);
    dropped_.reset();
  }
  while (true) {
    const std::uint64_t number = reader_.number();
    TRY(const auto line, reader_.next());
    if (!line) return range;
    const auto link = link_of(*line);
    if (!link || link->number != number || (before_ && link->before != *before_)) {
      return Error{Errc::denied, "audit log: record " + std::to_string(number) +
                                     " does not follow the one before"};
    }
    before_ = leaf_hash(as_bytes(*line));
    range.add(*before_);
  }
}

}  // namespace cordon::audit
