// SPDX-License-Identifier: Apache-2.0
#include "audit/retention.h"

#include <fcntl.h>
#include <string>

#include "audit/segment.h"
#include "audit/segment_lines.h"
#include "base/bytes.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/file_status.h"
#include "os/positioned_file.h"

namespace cordon::audit {
namespace {

constexpr const char* kHalfMade = "dropping";  // until it has its name

Result<os::Fd> open_part(const os::Fd& directory, std::uint64_t first) {
  return os::openat(directory, segment_name(first).c_str(), O_RDONLY | O_NOFOLLOW);
}

struct Beginning {
  SegmentHead head;
  std::optional<WallTime> first;  // when its first record was written
};

Result<Beginning> read_beginning(const os::Fd& directory, std::uint64_t first) {
  TRY(const os::Fd file, open_part(directory, first));
  SegmentLines lines{file, 0};
  TRY(const auto line, lines.next());
  if (!line) return Error{Errc::denied, "audit log: " + segment_name(first) + " has no head"};
  Beginning beginning;
  TRY(beginning.head, decode_segment_head(*line));
  TRY(const auto record, lines.next());
  if (const auto decoded = record ? decode(*record) : Error{Errc::not_found, "none"}) {
    beginning.first = decoded->time;
  }
  return beginning;
}

// The leaves of the segment, which must lead to what the next one begins with.
Result<std::string> leaves_of(const os::Fd& directory, std::uint64_t first,
                              const SegmentHead& next) {
  TRY(const os::Fd file, open_part(directory, first));
  SegmentLines lines{file, 0};
  TRY(const auto line, lines.next());
  TRY(SegmentHead head, line ? decode_segment_head(*line) : Error{Errc::denied, "audit log"});
  std::string leaves;
  while (true) {
    TRY(const auto record, lines.next());
    if (!record) break;
    const Digest leaf = leaf_hash(as_bytes(*record));
    head.tree.add(leaf);
    head.before = leaf;
    leaves += as_text(leaf);
  }
  if (head == next) return leaves;
  return Error{Errc::denied, "audit log: " + segment_name(first) +
                                 " is not as its writers left it, and is not dropped"};
}

// Named only when the log has said it, so that no hash stands for records without a reason.
Status replace(Log& log, const os::Fd& directory, std::uint64_t first, std::uint64_t end,
               std::string_view leaves) {
  static_cast<void>(os::unlinkat(directory, kHalfMade));
  TRY_DO(os::create_file(directory, kHalfMade, leaves, 0600));
  TRY(const os::Fd file, os::openat(directory, kHalfMade, O_RDONLY | O_NOFOLLOW));
  TRY_DO(os::sync_data(file));
  TRY_DO(log.append({}, RecordsDropped{end}));
  TRY_DO(log.sync());
  TRY_DO(os::renameat(directory, kHalfMade, directory, leaves_name(first).c_str(),
                      os::Replace::allow));
  TRY_DO(os::sync_data(directory));
  return os::unlinkat(directory, segment_name(first).c_str());
}

}  // namespace

Result<Dropped> drop_older(Log& log, const os::Fd& directory, WallTime time) {
  Dropped dropped;
  // Another who does it now does it for us.
  TRY(const os::Fd turn, os::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  if (!os::try_flock(turn, os::Lock::exclusive)) return dropped;
  TRY(const auto segments, list_segments(directory));
  for (std::size_t at = 0; at + 1 < segments.size(); ++at) {
    const std::uint64_t end = segments[at + 1];
    TRY(const Beginning next, read_beginning(directory, end));
    if (!next.first || *next.first > time) break;
    TRY(const std::string leaves, leaves_of(directory, segments[at], next.head));
    TRY(const os::Fd file, open_part(directory, segments[at]));
    TRY(const os::FileStatus status, os::statx(file));
    TRY_DO(replace(log, directory, segments[at], end, leaves));
    dropped.records += end - segments[at];
    dropped.bytes += status.size - leaves.size();
  }
  return dropped;
}

}  // namespace cordon::audit
