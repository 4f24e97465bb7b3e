// SPDX-License-Identifier: Apache-2.0
// Which lines of a text went and which came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::review {

struct LineCount {
  std::size_t added = 0;
  std::size_t removed = 0;
  friend bool operator==(const LineCount&, const LineCount&) = default;
};

// One step of the way from the old text to the new.
struct LineStep {
  enum class Kind : std::uint8_t { keep, remove, add };
  Kind kind = Kind::keep;
  std::string_view line;  // with its newline, if it has one; points into the text given
};

// Always a true way from `before` to `after`. It is the shortest one up to 1000 changed lines;
// beyond that, what lies between the common beginning and the common end is replaced as a whole, so
// that no text can make it slow.
std::vector<LineStep> diff_lines(std::string_view before, std::string_view after);

LineCount count_changes(const std::vector<LineStep>& steps);

// The hunks of a unified diff with three lines of context, each line printable; empty when nothing
// differs.
std::string unified_hunks(const std::vector<LineStep>& steps);

}  // namespace cordon::review
