// SPDX-License-Identifier: Apache-2.0
// Datagrams that were meant for any address, and answers that come from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

struct Ipv4Port {
  std::uint32_t address = 0;  // in the order of the host
  std::uint16_t port = 0;

  friend bool operator==(const Ipv4Port&, const Ipv4Port&) = default;
};

struct Datagram {
  std::size_t bytes = 0;  // into the buffer; what did not fit is lost
  Ipv4Port from;
  std::uint32_t meant = 0;  // the address that it was sent to
};

// The next one; nothing: none waits. Before: the socket has IP_PKTINFO and does not block.
Result<std::optional<Datagram>> receive_datagram(const Fd& socket, std::span<std::byte> buffer);

// An answer to `datagram`, from the address that it was meant for. One that the receiver has no
// room for is lost, as datagrams are.
Status answer_datagram(const Fd& socket, const Datagram& datagram,
                       std::span<const std::byte> bytes);

// The name of a socket: of one that was accepted from a steered listener, where its client wanted
// to go.
Result<Ipv4Port> local_name(int socket);

}  // namespace cordon::os
