// SPDX-License-Identifier: Apache-2.0
// What runsc's kernel says to who listens to its trace session, one packet after the other: a
// handshake, then a head and a message of protocol buffers each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/guest_trace.h"

namespace cordon::relay {

// What the peer's first packet is answered with: our version of the protocol.
inline constexpr std::array<std::byte, 2> kHandshake{std::byte{0x08}, std::byte{0x01}};

// `invalid`: it is none, or of a version before the first.
Status check_handshake(std::span<const std::byte> packet);

// A process, or one of its threads, has made another.
struct TracedClone {
  std::uint32_t by = 0;
  std::uint32_t made = 0;
};
// Of a process.
struct TracedEnd {
  std::uint32_t pid = 0;
};
// A call by its number, without a name of anything: told of every call that a TracedAct is told of
// too, where that can be told.
struct TracedNumber {
  std::uint32_t call = 0;
  std::uint32_t error_number = 0;
  std::uint32_t flags = 0;  // of an open
};

struct TracePacket {
  std::uint32_t dropped = 0;  // packets that found no room, of all so far; begins again at 2^32
  // Nothing: it is of a kind that nobody asked for. Of an act `parent` and `command` are not known.
  std::variant<std::monostate, TracedClone, TracedEnd, TracedNumber, frame::TracedAct> what;
};

// `invalid`: it is no packet. What is too long to be told is cut.
Result<TracePacket> read_trace_packet(std::span<const std::byte> packet);

}  // namespace cordon::relay
