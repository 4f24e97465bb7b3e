// SPDX-License-Identifier: Apache-2.0
#include "audit/log.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "audit/segment.h"
#include "audit/segment_lines.h"
#include "base/bytes.h"
#include "base/id.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/file_lock.h"
#include "os/file_status.h"
#include "os/positioned_file.h"
#include "os/random.h"

namespace cordon::audit {
namespace {

constexpr const char* kTail = "tail";
constexpr const char* kNextSegment = "next";  // until it has its name

// Held for one append: the longest that a writer keeps others waiting.
class Turn {
 public:
  static Result<Turn> take(const os::Fd& tail) {
    TRY_DO(os::wait_flock(tail, os::Lock::exclusive));
    return Turn{tail};
  }
  explicit Turn(const os::Fd& tail) : tail_{&tail} {}
  Turn(Turn&& other) noexcept : tail_{std::exchange(other.tail_, nullptr)} {}
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (tail_ != nullptr) os::unlock(*tail_);
  }

 private:
  const os::Fd* tail_;
};

Error damaged(std::string what) {
  return {Errc::denied, "audit log: " + std::move(what) +
                            "; keep its directory as it is, elsewhere, and a new one is begun"};
}

Result<std::uint64_t> size_of(const os::Fd& file) {
  TRY(const os::FileStatus status, os::statx(file));
  return status.size;
}

std::uint64_t microseconds(Ticks ticks) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(ticks.time_since_epoch()).count());
}

}  // namespace

Result<std::unique_ptr<Log>> Log::open(os::Fd directory, const Clock& clock, LogOptions options) {
  TRY(const BootId boot, this_boot());
  auto tail = os::openat(directory, kTail, O_RDWR | O_CREAT | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (!tail) return std::move(tail).error().with("audit log");
  std::unique_ptr<Log> log{new Log{std::move(directory), *std::move(tail), boot, clock, options}};
  TRY(const Turn turn, Turn::take(log->tail_));
  TRY_DO(log->find_end());
  log->id_ = log->end_.log;
  log->on_disk_ = log->end_.tree.end();
  return log;
}

Status Log::open_segment(std::uint64_t first) {
  const std::string name = segment_name(first);
  auto file = os::openat(directory_, name.c_str(), O_RDWR | O_NOFOLLOW);
  if (!file) return std::move(file).error().with("audit log");
  segment_ = *std::move(file);
  return {};
}

// Where others have written since, or died, this reads what they wrote.
Status Log::find_end() {
  const bool was_known = std::exchange(is_known_, false);
  if (auto told = read_tail(tail_, boot_)) {
    if (!segment_ || told->segment != end_.segment) TRY_DO(open_segment(told->segment));
    end_ = *std::move(told);
  } else if (was_known) {
    return damaged("its file `tail` is not as its writers left it");
  } else {
    TRY_DO(find_last_segment());
  }
  TRY(const std::uint64_t size, size_of(segment_));
  if (size < end_.offset) {
    return damaged(segment_name(end_.segment) + " is shorter than its writers left it");
  }
  if (size > end_.offset) TRY_DO(replay(size));
  is_known_ = true;
  return {};
}

// Of a log that nobody has written to since the machine started: stands behind its last head.
Status Log::find_last_segment() {
  TRY(const auto segments, list_segments(directory_));
  if (segments.empty()) {
    TRY(const auto random, os::random_bytes<16>());
    end_ = LogEnd{};
    end_.log = base32(random);
    return begin_segment();
  }
  TRY_DO(open_segment(segments.back()));
  SegmentLines lines{segment_, 0};
  TRY(const auto line, lines.next());
  auto head = line ? decode_segment_head(*line) : Error{Errc::invalid, "empty"};
  if (!head || head->tree.end() != segments.back() || (!id_.empty() && head->log != id_)) {
    return damaged("the head of " + segment_name(segments.back()) + " is not its writers'");
  }
  end_ = {std::move(head->log), segments.back(), lines.offset(), head->before,
          std::move(head->tree)};
  return write_tail(tail_, end_, boot_);
}

// Of a writer that died between its record and the tail, or of another start of the machine.
Status Log::replay(std::uint64_t size) {
  SegmentLines lines{segment_, end_.offset};
  while (true) {
    TRY(const auto line, lines.next());
    if (!line) break;
    const auto link = link_of(*line);
    if (!link || link->number != end_.tree.end() || link->before != end_.before) {
      return damaged("record " + std::to_string(end_.tree.end()) +
                     " does not follow the one before");
    }
    end_.before = leaf_hash(as_bytes(*line));
    end_.tree.add(end_.before);
    end_.offset = lines.offset();
  }
  if (end_.offset < size) return take_off(end_.offset, size);
  return write_tail(tail_, end_, boot_);
}

// The beginning of a record whose writer died, or what a power cut left: no line in any case.
Status Log::take_off(std::uint64_t from, std::uint64_t to) {
  LogRecovered recovered{.bytes = to - from, .sha256 = {}};
  Sha256 hash;
  std::vector<std::byte> bytes(std::min<std::uint64_t>(to - from, kLongestLine));
  for (std::uint64_t at = from; at < to; at += bytes.size()) {
    bytes.resize(std::min<std::uint64_t>(to - at, bytes.size()));
    TRY_DO(os::read_at(segment_, at, bytes));
    hash.add(bytes);
  }
  Digest digest{};
  hash.end(digest);
  recovered.sha256 = to_hex(digest);
  if (::ftruncate(segment_.get(), static_cast<off_t>(from)) != 0) {
    return Error::from_errno("ftruncate").with("audit log");
  }
  const std::string body = encode_body({}, recovered);
  return write({&body, 1});
}

// Named only when it is whole. One who dies before its tail is written leaves a segment without
// records, and the one before as full as it was: whoever has the next turn comes here again.
Status Log::begin_segment() {
  static_cast<void>(os::unlinkat(directory_, kNextSegment));
  const std::string head = encode(SegmentHead{end_.log, end_.before, end_.tree}) + '\n';
  TRY_DO(os::create_file(directory_, kNextSegment, head, S_IRUSR | S_IWUSR));
  const std::string name = segment_name(end_.tree.end());
  const Status named =
      os::renameat(directory_, kNextSegment, directory_, name.c_str(), os::Replace::refuse);
  if (!named && named.error().code() != Errc::exists) return named.error();
  TRY_DO(open_segment(end_.tree.end()));
  TRY(const std::string found, os::read_all(segment_, head.size() + 1));
  if (found != head) return damaged(name + " was not begun by its writers");
  // The disk has a segment before its first record. Of the first one there is nothing to lose.
  if (end_.tree.end() > 0) {
    TRY_DO(os::sync_data(segment_));
    TRY_DO(os::sync_data(directory_));
  }
  end_.segment = end_.tree.end();
  end_.offset = head.size();
  return write_tail(tail_, end_, boot_);
}

Status Log::write(std::span<const std::string> bodies) {
  if (end_.offset >= options_.segment_bytes) {
    TRY_DO(os::sync_data(segment_));
    TRY_DO(begin_segment());
  }
  std::string lines;
  LogEnd end = end_;
  for (const std::string& body : bodies) {
    std::string line =
        encode_front(end.tree.end(), clock_.wall(), microseconds(clock_.ticks()), end.before);
    line += body;
    end.before = leaf_hash(as_bytes(line));
    end.tree.add(end.before);
    lines.append(line) += '\n';
  }
  Status written = os::write_at(segment_, end_.offset, as_bytes(lines));
  end.offset += lines.size();
  if (written) written = write_tail(tail_, end, boot_);
  if (!written) {
    // A part may be there. Where it cannot be taken off again, the next turn does.
    static_cast<void>(::ftruncate(segment_.get(), static_cast<off_t>(end_.offset)));
    return std::move(written).error().with("audit log");
  }
  end_ = std::move(end);
  return {};
}

Status Log::append(const Subject& subject, const AuditEvent& event) {
  return append(subject, std::span{&event, 1});
}

Status Log::append(const Subject& subject, std::span<const AuditEvent> events) {
  std::vector<std::string> bodies;
  bodies.reserve(events.size());
  for (const AuditEvent& event : events) bodies.push_back(encode_body(subject, event));
  const std::lock_guard lock{mutex_};
  if (no_disk_) return Error{Errc::unrecorded, no_disk_->text()};
  Status appended = append_bodies(bodies);
  if (appended) return appended;
  return Error{Errc::unrecorded, std::move(appended).error().text()};
}

Status Log::append_bodies(std::span<const std::string> bodies) {
  TRY(const Turn turn, Turn::take(tail_));
  TRY_DO(find_end());
  return write(bodies);
}

Status Log::sync() {
  os::Fd file;
  std::uint64_t size = 0;
  {
    const std::lock_guard lock{mutex_};
    TRY(file, os::duplicate(segment_));
    size = end_.tree.end();
  }
  // Without the lock: a slow disk stops no append. What was in segments before was synced with
  // their end.
  Status synced = os::sync_data(file);
  const std::lock_guard lock{mutex_};
  if (!synced) {
    no_disk_ = std::move(synced).error().with("audit log");
    return *no_disk_;
  }
  // The kernel tells of a page that it could not write only once, and takes it for written then.
  if (const auto failed = std::exchange(no_disk_, std::nullopt)) {
    const RecordsLost lost{.source = "disk",
                           .count = size - on_disk_,
                           .why =
                               "the disk failed, and may not have these records before this "
                               "one: " +
                               failed->text()};
    const std::string body = encode_body({}, lost);
    TRY_DO(append_bodies({&body, 1}));
  }
  on_disk_ = size;
  return {};
}

std::uint64_t Log::size() const {
  const std::lock_guard lock{mutex_};
  return end_.tree.end();
}

}  // namespace cordon::audit
