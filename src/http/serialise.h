// SPDX-License-Identifier: Apache-2.0
// Heads into bytes, in one form.
//
// What was written is read again by the parser before it is given out, and must be the same head:
// so no byte is sent that we would refuse, and no member can hold a line end that makes two fields
// or two messages of one. Fields for one hop are left out (strip_hop_by_hop); Host, the framing and
// Connection are written from values. To add a field of our own, strip first: see connection.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "http/framing.h"
#include "http/head.h"

namespace cordon::http {

// What becomes of the connection after the message.
enum class After : std::uint8_t {
  keep,     // it is used again; said aloud only in HTTP/1.0
  close,    //
  upgrade,  // a WebSocket handshake, or the answer to one
};

// Within these all that is written can be read. Wider than what is read from others: the one form
// of a head may be longer than the one that came, and fields of our own are added.
inline constexpr HeadLimits kWritten{
    .bytes = std::size_t{128} << 10U, .fields = 256, .target = std::size_t{17} << 10U};

// `framing` is how the body will be sent, whatever `head.announced` says: `none`, `length` or
// `chunked`.
Result<std::string> serialise(const RequestHead& head, const Framing& framing,
                              After after = After::keep);

// A body that only the end of the connection ends makes `after` `close`. The reason phrase is the
// usual one of the status. That the answer to a HEAD has no body is the caller's to know.
Result<std::string> serialise(const ResponseHead& head, const Framing& framing,
                              After after = After::keep);

}  // namespace cordon::http
