// SPDX-License-Identifier: Apache-2.0
#include "policy/text.h"

namespace cordon::policy {
namespace {

// Bytes of the control character at the front of `text`; 0 when it is none.
std::size_t control_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (text.size() > 1 && byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) return 2;
  if (text.size() < 3 || byte(0) != 0xE2) return 0;
  const bool mark_or_line = byte(1) == 0x80 && (byte(2) == 0x8E || byte(2) == 0x8F ||
                                                (byte(2) >= 0xA8 && byte(2) <= 0xAE));
  if (mark_or_line || (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9)) return 3;
  return 0;
}

constexpr std::size_t kLongestShown = 120;

}  // namespace

bool has_control_character(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (control_length(text.substr(i)) > 0) return true;
  }
  return false;
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    if (shown.size() >= kLongestShown &&
        (static_cast<unsigned char>(text.front()) & 0xC0U) != 0x80U) {
      shown += "…";
      break;
    }
    const std::size_t control = control_length(text);
    if (control > 0) {
      shown += '?';
      text.remove_prefix(control);
    } else {
      shown += text.front();
      text.remove_prefix(1);
    }
  }
  return shown;
}

std::string quoted(std::string_view text) { return '`' + printable(text) + '`'; }

}  // namespace cordon::policy
