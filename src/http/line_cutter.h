// SPDX-License-Identifier: Apache-2.0
// Cuts a head or a trailer section into its lines, however the bytes arrive.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::http {

struct Line {
  std::string_view text;  // without its CR LF; valid until the next call
  std::size_t at = 0;     // of its first byte
};

class LineCutter {
 public:
  // `where` names the part in refusals and outlives the cutter; `most` bounds all lines together.
  LineCutter(std::string_view where, std::size_t most) noexcept : where_{where}, most_{most} {}

  // Takes one line from the front of `bytes`; nothing: all of them were taken and the line goes on.
  // Judged line by line, never earlier, so that a cut between pieces changes no answer.
  Result<std::optional<Line>> next(std::string_view& bytes);

  // How many bytes were taken in all.
  std::size_t taken() const noexcept { return taken_; }
  std::string_view where() const noexcept { return where_; }

 private:
  std::string_view where_;
  std::size_t most_;
  std::size_t taken_ = 0;
  std::string held_;      // the part of a line that came in earlier pieces
  bool is_told_ = false;  // `held_` is a whole line that was handed out
};

}  // namespace cordon::http
