// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/input_lines.h"

namespace cordon::mcp::server {

void InputLines::feed(std::string_view bytes) {
  if (is_skipping_) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    is_skipping_ = false;
  }
  held_ += bytes;
}

std::optional<InputLines::Line> InputLines::next() {
  for (;;) {
    const std::size_t end = held_.find('\n', seen_);
    if (end == std::string::npos) {
      seen_ = held_.size();
      if (held_.size() <= longest_) return std::nullopt;
      held_ = {};
      seen_ = 0;
      is_skipping_ = true;
      return Line{.text = {}, .is_too_long = true};
    }
    std::string text = held_.substr(0, end);
    held_.erase(0, end + 1);
    seen_ = 0;
    if (text.ends_with('\r')) text.pop_back();
    if (text.size() > longest_) return Line{.text = {}, .is_too_long = true};
    if (!text.empty()) return Line{.text = std::move(text)};
  }
}

}  // namespace cordon::mcp::server
