// SPDX-License-Identifier: Apache-2.0
// The numbers of a control sequence.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>

namespace cordon::terminal {

// The part up to the next `;`, which is taken off `rest`.
inline std::string_view take_parameter(std::string_view& rest) noexcept {
  const std::string_view one = rest.substr(0, rest.find(';'));
  rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  return one;
}

// Leading digits; absent: `otherwise`. Too large for an int counts as absent.
inline int number_or(std::string_view text, int otherwise) noexcept {
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace cordon::terminal
