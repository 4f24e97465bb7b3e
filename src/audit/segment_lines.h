// SPDX-License-Identifier: Apache-2.0
// The whole lines of a segment, one at a time, however large it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

class SegmentLines {
 public:
  // `file` outlives it. From `offset` on, where a line begins.
  SegmentLines(const os::Fd& file, std::uint64_t offset)
      : file_{file}, read_{offset}, at_{offset} {}

  // Without its newline; good until the next call. Nothing: no whole line is left. `exhausted`: a
  // line is longer than any that is written.
  Result<std::optional<std::string_view>> next();
  // Where the next line begins.
  std::uint64_t offset() const noexcept { return at_; }

 private:
  const os::Fd& file_;
  std::uint64_t read_;  // of the file, into held_
  std::uint64_t at_;
  std::string held_;
  std::size_t taken_ = 0;  // of held_
  bool is_first_ = true;   // nothing was read yet
};

}  // namespace cordon::audit
