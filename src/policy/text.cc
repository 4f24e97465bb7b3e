// SPDX-License-Identifier: Apache-2.0
#include "policy/text.h"

#include <algorithm>

#include "base/utf8.h"

namespace cordon::policy {
namespace {

constexpr std::size_t kLongestShown = 120;

}  // namespace

bool has_control_character(std::string_view text) noexcept {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.length > 0 && is_deceptive(character.code)) return true;
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
  }
  return false;
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    if (shown.size() >= kLongestShown) {
      shown += "…";
      break;
    }
    const Utf8Character character = first_character(text);
    if (character.length == 0 || is_deceptive(character.code)) {
      shown += '?';
    } else {
      shown += text.substr(0, character.length);
    }
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
  }
  return shown;
}

std::string in_quotes(std::string_view text) { return '`' + printable(text) + '`'; }

}  // namespace cordon::policy
