// SPDX-License-Identifier: Apache-2.0
// How a message is refused: which rule it breaks, at which byte. Never with bytes of its own, which
// a stranger chose and a model may read.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace cordon::http {

inline constexpr std::string_view kInHead = "head";
inline constexpr std::string_view kInBody = "body";

// "head byte 14: a line ends in CR LF, not in LF alone". `where` is head, body or trailers; `at`
// counts its bytes from 0. By `code` the sender is told what to do:
//   invalid      the message is wrong                           400
//   exhausted    it is longer than a limit allows               431
//   denied       its method is served nowhere here              405
//   unavailable  it speaks a version that is not spoken here    505
Error refused(std::string_view where, std::uint64_t at, std::string_view rule,
              Errc code = Errc::invalid);

// The status that answers a request refused with `error`; 500 where that is a defect of ours.
int status_for(const Error& error) noexcept;

}  // namespace cordon::http
