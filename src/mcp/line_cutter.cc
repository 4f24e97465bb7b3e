// SPDX-License-Identifier: Apache-2.0
#include "mcp/line_cutter.h"

#include <utility>

namespace cordon::mcp {

std::vector<CutLine> LineCutter::push(std::string_view bytes) {
  std::vector<CutLine> lines;
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    if (!too_long_ && held_.size() + part.size() > longest_) {
      too_long_ = true;
      held_ = std::string{};
    }
    if (!too_long_) held_ += part;
    if (newline == std::string_view::npos) break;
    lines.push_back({std::exchange(held_, {}), std::exchange(too_long_, false)});
    bytes.remove_prefix(newline + 1);
  }
  return lines;
}

}  // namespace cordon::mcp
