// SPDX-License-Identifier: Apache-2.0
// Links, addresses and routes of the network namespace that the socket was opened in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/ip_address.h"
#include "os/netlink_message.h"

namespace cordon::os {

struct Link {
  std::uint32_t index = 0;
  std::string name;
  bool up = false;
  bool loopback = false;

  friend bool operator==(const Link&, const Link&) = default;
};

struct Route {
  IpBlock to;
  std::uint32_t link = 0;            // index of the outgoing link
  std::optional<IpAddress> gateway;  // of the same family as `to`
  // The block is delivered to this host as if all its addresses were its own: how traffic to
  // anywhere reaches a proxy on the loopback link.
  bool local = false;
  // Looked at before every other, as routes of this host's own addresses are.
  bool before_local = false;
};

// A socket stays with its namespace, also when the process moves to another.
class RouteSocket {
 public:
  static Result<RouteSocket> open();

  Result<std::vector<Link>> links();
  Result<Link> link(std::string_view name);  // `not_found`: none of that name

  // Each waits for the kernel's answer. Changes need CAP_NET_ADMIN over the namespace (denied).
  Status set_link_up(std::uint32_t index);
  Status add_address(std::uint32_t index, const IpBlock& address);  // `exists`: is there already
  Status add_route(const Route& route);
  // Two links that are joined, `far` in the network namespace of that process. Neither gets an IPv6
  // address by itself.
  Status add_pair(std::string_view near, std::string_view far, pid_t process);

 private:
  explicit RouteSocket(Fd socket) noexcept : socket_{std::move(socket)} {}
  Status send(NetlinkMessage& message);
  // Sends and waits for the answer to this one.
  Status request(NetlinkMessage message, std::string_view what);

  Fd socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace cordon::os
