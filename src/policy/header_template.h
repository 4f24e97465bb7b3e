// SPDX-License-Identifier: Apache-2.0
// The header in which a secret travels.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::policy {

inline constexpr std::string_view kSecretSlot = "{secret}";

struct HeaderTemplate {
  std::string name;
  std::string value;  // with kSecretSlot in it, once or more

  friend bool operator==(const HeaderTemplate&, const HeaderTemplate&) = default;
};

// "Authorization: Bearer {secret}". Refused: names of headers that say how or where a message
// travels, and what is no header.
Result<HeaderTemplate> parse_header_template(std::string_view text);

}  // namespace cordon::policy
