// SPDX-License-Identifier: Apache-2.0
// The records of a log in their order, from any of them on, also while it is being written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "audit/segment_lines.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

class LogReader {
 public:
  // `directory`: of the log, open for reading. `not_found`: there is no log, or record `first` was
  // dropped, or is neither written nor the next one.
  static Result<LogReader> open(os::Fd directory, std::uint64_t first);
  // From the oldest one that is kept.
  static Result<LogReader> open(os::Fd directory);

  // The line of the next record, without its newline; good until the next call. Nothing: all was
  // read that there is; ask again later.
  Result<std::optional<std::string_view>> next();
  // The number of the record that next() gives next.
  std::uint64_t number() const noexcept { return number_; }

 private:
  LogReader(os::Fd directory, std::uint64_t segment)
      : directory_{std::move(directory)}, number_{segment} {}
  static Result<LogReader> open_at(os::Fd directory, std::uint64_t segment);

  // Of the segment that begins with number_.
  Status enter();
  // Whether there is one.
  Result<bool> has_next_segment();
  Result<std::optional<std::string_view>> next_here();

  os::Fd directory_;
  std::unique_ptr<os::Fd> file_;  // of the segment; lines_ refers to it
  std::unique_ptr<SegmentLines> lines_;
  std::uint64_t segment_ = 0;
  std::uint64_t number_;
};

}  // namespace cordon::audit
