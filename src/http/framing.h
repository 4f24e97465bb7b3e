// SPDX-License-Identifier: Apache-2.0
// Where the body of a message ends, as a value.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "http/head.h"

namespace cordon::http {

struct Framing {
  enum class Kind : std::uint8_t {
    none,         // no body
    announced,    // no body, though a length is told: an answer to HEAD, or 304
    length,       // so many bytes
    chunked,      //
    until_close,  // of answers only: what comes until the connection ends
    tunnel,       // after the head the connection speaks no HTTP any more
  };
  Kind kind = Kind::none;
  std::uint64_t length = 0;  // of `announced` and `length`

  friend bool operator==(const Framing&, const Framing&) = default;
};

// Of a head that the parser gave: it has refused all that could be framed in two ways.
Framing framing_of(const RequestHead& head) noexcept;

// What of a request decides how its answer is framed.
struct Asked {
  std::string_view method;
  bool upgrade = false;  // a WebSocket handshake was passed on (upgrade.h)
};

// Refused: 101 where no upgrade was asked for; and a body announced where none can be (100 to 199,
// 204, the success of CONNECT), because a server that says so may also send it, and it would be
// read as the next answer.
Result<Framing> framing_of(const ResponseHead& head, const Asked& asked);

// Whether another head follows this one in answer to the same request.
bool is_interim(const ResponseHead& head) noexcept;
// Before one answer. Whoever sends more has no answer, and holds whoever reads them.
inline constexpr int kMostInterim = 8;

}  // namespace cordon::http
