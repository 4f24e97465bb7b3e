// SPDX-License-Identifier: Apache-2.0
// Lines out of bytes as they come, each of bounded length. (pure)
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::mcp::server {

// A line that is longer is told once, when it is known, and passed over to its end: no more of it
// is kept than was allowed.
class InputLines {
 public:
  explicit InputLines(std::size_t longest) : longest_{longest} {}

  void feed(std::string_view bytes);

  struct Line {
    std::string text;          // without its end
    bool is_too_long = false;  // then without any
  };
  // Nothing: feed more. Empty lines are none.
  std::optional<Line> next();

 private:
  std::size_t longest_;
  std::string held_;
  std::size_t seen_ = 0;      // of `held_`, in which no newline is
  bool is_skipping_ = false;  // up to the next newline
};

}  // namespace cordon::mcp::server
