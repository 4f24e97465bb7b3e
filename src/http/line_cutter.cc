// SPDX-License-Identifier: Apache-2.0
#include "http/line_cutter.h"

#include <fmt/format.h>

#include "http/refusal.h"

namespace cordon::http {

Result<std::optional<Line>> LineCutter::next(std::string_view& bytes) {
  if (is_told_) held_.clear();
  is_told_ = false;

  const auto end = bytes.find('\n');
  const std::size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
  if (size > most_ - taken_) {
    return refused(where_, most_, fmt::format("longer than {} bytes", most_), Errc::exhausted);
  }
  taken_ += size;
  std::string_view line = bytes.substr(0, size);
  bytes.remove_prefix(size);
  if (end == std::string_view::npos || !held_.empty()) held_.append(line);
  if (end == std::string_view::npos) return std::optional<Line>{};
  if (!held_.empty()) {
    line = held_;
    is_told_ = true;
  }

  const std::size_t at = taken_ - line.size();
  line.remove_suffix(1);
  const auto cr = line.find('\r');
  if (cr == std::string_view::npos)
    return refused(where_, at + line.size(), "a line ends in CR LF, not in LF alone");
  if (cr + 1 != line.size())
    return refused(where_, at + cr, "a CR stands only before the LF that ends a line");
  line.remove_suffix(1);
  return std::optional{Line{.text = line, .at = at}};
}

}  // namespace cordon::http
