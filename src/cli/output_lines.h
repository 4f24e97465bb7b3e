// SPDX-License-Identifier: Apache-2.0
// The lines in which a node tells what a process writes, and how far one has come in them. (pure)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/value.hpp>

#include "base/result.h"

namespace cordon::cli {

// A process may be a mebibyte ahead of what was acknowledged: it shall not come to that.
inline constexpr std::uint64_t kAcknowledgedAtOnce = std::uint64_t{256} << 10U;

struct OutputPiece {
  bool is_error = false;  // of standard error
  std::uint64_t offset = 0;
  std::string bytes;
  friend bool operator==(const OutputPiece&, const OutputPiece&) = default;
};
struct OutputEnd {
  boost::json::value process;  // as API v1 shows it
};
using OutputLine = std::variant<OutputPiece, OutputEnd>;
// `invalid`: it is no such line.
Result<OutputLine> read_output_line(std::string_view line);
// The line of a piece, as a node writes it, without its newline.
std::string output_line_of(const OutputPiece& piece);

// By stream: standard output, standard error. Nothing: it is not known yet where it begins.
using OutputPlace = std::array<std::optional<std::uint64_t>, 2>;

// What was had of both streams. A piece may come a second time, or in part: nothing is told twice.
class OutputCursor {
 public:
  explicit OutputCursor(OutputPlace from) : at_{from} {}

  // Leaves in `piece` what is new of it. Gives how many bytes before it will never come.
  std::uint64_t take(OutputPiece& piece);
  const OutputPlace& at() const noexcept { return at_; }
  // Of a process that has written `out` and `err` bytes: how many of them were not had.
  std::uint64_t missing(std::uint64_t out, std::uint64_t err) const noexcept;

 private:
  OutputPlace at_;
};

}  // namespace cordon::cli
