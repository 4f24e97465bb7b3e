// SPDX-License-Identifier: Apache-2.0
// What was added to a log, as the range of its tree that a head is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audit/log_reader.h"
#include "audit/tree_range.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

// `directory`: of the log, open for reading.
Result<std::string> read_log_id(const os::Fd& directory);

class AddedRange {
 public:
  // `directory`: as above. From record `first` on, or from 0, also where those are dropped.
  static Result<AddedRange> open(os::Fd directory, std::uint64_t first);

  // All that was added up to now, since the last call. `denied`: a record does not follow the one
  // before it.
  Result<TreeRange> read();

 private:
  explicit AddedRange(LogReader reader) : reader_{std::move(reader)} {}
  LogReader reader_;
  std::optional<TreeRange> dropped_;  // those before them that are not kept, until they were given
  std::optional<Digest> before_;      // the leaf of the last record that was read
};

}  // namespace cordon::audit
