// SPDX-License-Identifier: Apache-2.0
// A network namespace from which nothing gets out: all TCP, and DNS, arrive at two sockets of ours.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"
#include "os/ip_address.h"

namespace cordon::os {

// Both accept what was meant for any address: the destination is the accepted socket's own name,
// and of a datagram what receive_datagram tells. They work for whoever holds them, wherever.
struct SteeredSockets {
  Fd tcp;  // listens
  Fd udp;
};

// Makes the caller's network namespace, which is new, such a one. Loopback addresses and 10.0.0.2,
// the address of the sandbox itself, stay inside it; TCP to any other IPv4 address and datagrams to
// any port 53 reach the sockets; all else is refused at once, and counted. There is no route for
// IPv6. When nobody holds the sockets any more, everything is refused.
Result<SteeredSockets> steer_own_network();

// Of a guest that is joined to such a namespace by a link of its own: its address with the link's
// block, and ours there, which is its gateway.
IpBlock steered_guest();
IpAddress steered_gateway();
// What such a guest does in its own namespace: brings loopback up, and `link`, which leads to the
// gateway, with its address. Without a name: loopback alone.
Status join_as_guest(std::string_view link);

// The rules alone, for tests.
std::span<const std::byte> steering_rules();

}  // namespace cordon::os
