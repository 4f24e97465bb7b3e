// SPDX-License-Identifier: Apache-2.0
#include "frame/placeholder.h"

#include <algorithm>

#include "base/bytes.h"

namespace cordon::frame {

std::string placeholder_from(std::span<const std::byte, kPlaceholderBytes> random) {
  return std::string{kPlaceholderPrefix} + to_hex(random);
}

bool is_placeholder(std::string_view text) noexcept {
  if (!text.starts_with(kPlaceholderPrefix)) return false;
  text.remove_prefix(kPlaceholderPrefix.size());
  return text.size() == 2 * kPlaceholderBytes && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace cordon::frame
