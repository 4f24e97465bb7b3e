// SPDX-License-Identifier: Apache-2.0
#include "launcher/inner_network.h"

#include <array>
#include <signal.h>
#include <unistd.h>

#include "os/namespace.h"
#include "os/netlink.h"
#include "os/prctl.h"
#include "os/process.h"
#include "os/socket.h"
#include "os/steering.h"

namespace cordon::launcher {
namespace {

constexpr std::string_view kInnerLink = "eth0";

// A namespace belongs to the user namespace of who makes it; this one makes it and waits to be
// ended.
Result<os::Child> hold_namespace(const os::Fd& user_namespace) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::seqpacket));
  TRY(os::Child holder, os::Child::start({.clear_signal_handlers = true}, [&] {
        pair.one = os::Fd{};
        if (!os::set_parent_death_signal(SIGKILL)) return 1;
        if (!os::setns(user_namespace, os::Ns::user) || !os::unshare(os::Ns::net)) return 1;
        std::array<std::byte, 1> word{};
        if (!os::send(pair.two, word)) return 1;
        for (;;) ::pause();
      }));
  pair.two = os::Fd{};
  std::array<std::byte, 1> word{};
  TRY(const os::Received got, os::receive(pair.one, word));
  if (got.bytes != 1) return Error{Errc::unavailable, "no network namespace for an engine"};
  return holder;
}

Status make_pair(pid_t holder) {
  TRY(os::RouteSocket route, os::RouteSocket::open());
  return route.add_pair(kGuestLink, kInnerLink, holder);
}

}  // namespace

Status join_guest_link(std::string_view name) {
  TRY(os::RouteSocket route, os::RouteSocket::open());
  TRY(const os::Link link, route.link(name));
  const os::IpBlock guest = os::steered_guest();
  // Alone, without its block: nobody else of it is at the far end, and who says so is not heard.
  TRY_DO(route.add_address(link.index, {os::steered_gateway(), guest.address.bits()}));
  TRY_DO(route.set_link_up(link.index));
  // Every address is this namespace's own; this one is not.
  return route.add_route({.to = {guest.address, guest.address.bits()},
                          .link = link.index,
                          .gateway = {},
                          .before_local = true});
}

Status enter_inner_network(const os::Fd& steered, const os::Fd& user_namespace) {
  TRY(const os::Child holder, hold_namespace(user_namespace));
  TRY_DO(os::setns(steered, os::Ns::net));
  TRY_DO(make_pair(holder.pid()));
  TRY_DO(join_guest_link(kGuestLink));
  TRY_DO(os::setns(holder.pidfd(), os::Ns::net));
  return os::join_as_guest(kInnerLink);
}

}  // namespace cordon::launcher
