// SPDX-License-Identifier: Apache-2.0
#include "audit/log_reader.h"

#include <algorithm>
#include <fcntl.h>
#include <string>

#include "audit/segment.h"
#include "os/file.h"

namespace cordon::audit {

Result<LogReader> LogReader::open_at(os::Fd directory, std::uint64_t segment) {
  LogReader reader{std::move(directory), segment};
  TRY_DO(reader.enter());
  return reader;
}

Result<LogReader> LogReader::open(os::Fd directory) {
  TRY(const auto segments, list_segments(directory));
  if (segments.empty()) return Error{Errc::not_found, "audit log: there is none here"};
  return open_at(std::move(directory), segments.front());
}

Result<LogReader> LogReader::open(os::Fd directory, std::uint64_t first) {
  TRY(const auto segments, list_segments(directory));
  if (segments.empty()) return Error{Errc::not_found, "audit log: there is none here"};
  const auto after = std::ranges::upper_bound(segments, first);
  if (after == segments.begin()) {
    return Error{Errc::not_found, "audit log: record " + std::to_string(first) +
                                      " was dropped; the oldest one is " +
                                      std::to_string(segments.front())};
  }
  TRY(LogReader reader, open_at(std::move(directory), *std::prev(after)));
  while (reader.number_ < first) {
    TRY(const auto line, reader.next());
    if (!line) break;  // not written yet
  }
  if (reader.number_ < first) {
    return Error{Errc::not_found, "audit log: there are only " + std::to_string(reader.number_) +
                                      " records, and none " + std::to_string(first)};
  }
  return reader;
}

Status LogReader::enter() {
  const std::string name = segment_name(number_);
  TRY(os::Fd file, os::openat(directory_, name.c_str(), O_RDONLY | O_NOFOLLOW));
  file_ = std::make_unique<os::Fd>(std::move(file));
  lines_ = std::make_unique<SegmentLines>(*file_, 0);
  segment_ = number_;
  TRY(const auto head, lines_->next());
  if (head && decode_segment_head(*head)) return {};
  return Error{Errc::invalid, "audit log: the segment " + name + " does not begin with a head"};
}

Result<bool> LogReader::has_next_segment() {
  if (number_ == segment_) return false;
  const auto found =
      os::openat(directory_, segment_name(number_).c_str(), O_RDONLY | O_PATH | O_NOFOLLOW);
  if (!found && found.error().code() != Errc::not_found) return found.error();
  return found.has_value();
}

Result<std::optional<std::string_view>> LogReader::next_here() {
  TRY(const auto line, lines_->next());
  if (line) {
    ++number_;
  } else {
    // What was read of a record that is not whole yet may be taken off and be another's then.
    lines_ = std::make_unique<SegmentLines>(*file_, lines_->offset());
  }
  return line;
}

Result<std::optional<std::string_view>> LogReader::next() {
  TRY(const auto line, next_here());
  if (line) return line;
  // In this order: once there is a next segment nothing is added to this one.
  TRY(const bool has_next, has_next_segment());
  if (!has_next) return std::optional<std::string_view>{};
  TRY(const auto last, next_here());
  if (last) return last;
  TRY_DO(enter());
  return next_here();
}

}  // namespace cordon::audit
