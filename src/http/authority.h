// SPDX-License-Identifier: Apache-2.0
// The host and port that a request names, in their one spelling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::http {

// `host` is a name (lower case, labels of letters, digits and hyphens, no dot at its end, the last
// label no number), a dotted quad, or an IPv6 address without its brackets: the spelling that a
// policy matches, and the one that is written again.
struct Authority {
  std::string host;
  std::optional<std::uint16_t> port;

  friend bool operator==(const Authority&, const Authority&) = default;
};

// "host", "host:port", "[address]:port". Upper case and one dot at the end of a name are mended;
// all else that is no host (user info, escapes, spaces, odd spellings of addresses, port 0) is
// refused.
Result<Authority> parse_authority(std::string_view text);

std::string to_string(const Authority& authority);

}  // namespace cordon::http
