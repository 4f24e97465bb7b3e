// SPDX-License-Identifier: Apache-2.0
// Lines out of bytes as they come, none longer than a bound.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::mcp {

struct CutLine {
  std::string text;       // without its newline
  bool too_long = false;  // then its text is gone

  // Nothing is said by it.
  bool is_blank() const { return text.find_first_not_of(" \t\r") == std::string::npos; }
};

class LineCutter {
 public:
  explicit LineCutter(std::size_t longest) : longest_{longest} {}

  // The lines that end in `bytes`. Of one that gets too long nothing is kept, and it is told when
  // it ends.
  std::vector<CutLine> push(std::string_view bytes);

 private:
  std::size_t longest_;
  std::string held_;
  bool too_long_ = false;
};

}  // namespace cordon::mcp
