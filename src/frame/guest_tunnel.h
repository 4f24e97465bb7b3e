// SPDX-License-Identifier: Apache-2.0
// The guest protocol's part about tunnels: connections from the host to a port inside.
//
// A tunnel belongs to the stream that it was opened on: after Resume there is none. Its bytes are
// nobody's record: what was not taken when it ends is lost, as with any connection.
#pragma once

#include <cstdint>
#include <string>

#include "frame/fields.h"

namespace cordon::frame {

// At once, of one sandbox; more fail with EAGAIN.
inline constexpr std::size_t kMostTunnels = 64;
// Bytes that either side may send beyond what TunnelTaken has confirmed.
inline constexpr std::uint64_t kTunnelWindow = std::uint64_t{128} << 10U;

// To the guest: connects to that port of the sandbox's own loopback, 127.0.0.1 or else ::1, by a
// child of the spawner. Answered by TunnelOpened or TunnelFailed. `tunnel` is a number of the
// host's choosing, never used twice on one stream.
struct OpenTunnel {
  std::uint32_t tunnel = 0;
  std::uint16_t port = 0;
  CORDON_FIELDS(OpenTunnel, self.tunnel, self.port);
};

struct TunnelOpened {
  std::uint32_t tunnel = 0;
  CORDON_FIELDS(TunnelOpened, self.tunnel);
};

// From the guest: it was not opened, or it broke. Nothing more comes.
struct TunnelFailed {
  std::uint32_t tunnel = 0;
  std::int32_t error_number = 0;
  CORDON_FIELDS(TunnelFailed, self.tunnel, self.error_number);
};

// Either way, at most kMostData bytes, as the next three.
struct TunnelData {
  std::uint32_t tunnel = 0;
  std::string bytes;
  CORDON_FIELDS(TunnelData, self.tunnel, self.bytes);
};

// The sender has no more. When both have said so the tunnel is no more.
struct TunnelEnd {
  std::uint32_t tunnel = 0;
  CORDON_FIELDS(TunnelEnd, self.tunnel);
};

// So many of the other's bytes, in all, are with whom they are for: the window moves.
struct TunnelTaken {
  std::uint32_t tunnel = 0;
  std::uint64_t count = 0;
  CORDON_FIELDS(TunnelTaken, self.tunnel, self.count);
};

// To the guest: the host wants nothing of it any more, wherever it stands.
struct CloseTunnel {
  std::uint32_t tunnel = 0;
  CORDON_FIELDS(CloseTunnel, self.tunnel);
};

}  // namespace cordon::frame
