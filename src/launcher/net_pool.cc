// SPDX-License-Identifier: Apache-2.0
#include "launcher/net_pool.h"

#include <array>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <vector>

#include "os/namespace.h"
#include "os/netlink.h"
#include "os/prctl.h"
#include "os/socket.h"

namespace cordon::launcher {
namespace {

Result<Network> make_namespace(NetKind kind) {
  TRY_DO(os::unshare(os::Ns::net));
  Network made;
  TRY(made.netns, os::open_ns(os::Ns::net));
  if (kind == NetKind::steered) {
    TRY(made.sockets, os::steer_own_network());
    return made;
  }
  TRY(os::RouteSocket route, os::RouteSocket::open());
  TRY(const os::Link loopback, route.link("lo"));
  TRY_DO(route.set_link_up(loopback.index));
  return made;
}

// A byte in is an order; a byte out with descriptors is a namespace, without any a failure.
int serve_orders(const os::Fd& socket, pid_t launcher, NetKind kind) {
  if (!os::set_parent_death_signal(SIGKILL) || ::getppid() != launcher) return 1;
  std::array<std::byte, 64> orders{};
  for (;;) {
    const auto got = os::receive(socket, orders);
    if (!got || got->bytes == 0) return 0;
    for (std::size_t count = 0; count < got->bytes; ++count) {
      const auto made = make_namespace(kind);
      const std::array<std::byte, 1> word{};
      std::vector<const os::Fd*> fds;
      if (made) fds.push_back(&made->netns);
      if (made && kind == NetKind::steered) {
        fds.push_back(&made->sockets.tcp);
        fds.push_back(&made->sockets.udp);
      }
      if (!os::send(socket, word, fds)) return 0;
    }
  }
}

}  // namespace

Result<NetPool> NetPool::start(NetKind kind, unsigned ahead, bool refills) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::stream));
  TRY(os::Child child,
      os::Child::start({.clear_signal_handlers = true}, [&, launcher = ::getpid()] {
        // Nothing but its own socket: the node must see the launcher's end although this child
        // lives a moment longer.
        constexpr int kOwn = 3;
        if (::dup3(pair.two.get(), kOwn, O_CLOEXEC) < 0 && pair.two.get() != kOwn) return 1;
        static_cast<void>(pair.one.release());
        static_cast<void>(pair.two.release());
        if (!os::close_from(kOwn + 1)) return 1;
        const os::Fd own{kOwn};
        return serve_orders(own, launcher, kind);
      }));
  NetPool pool{kind, std::move(child), std::move(pair.one), ahead, refills};
  TRY_DO(pool.order(ahead));
  return pool;
}

Status NetPool::order(unsigned count) {
  const std::vector<std::byte> orders(count);
  TRY(const std::size_t sent, os::send(socket_, orders));
  ordered_ += static_cast<unsigned>(sent);
  if (sent != count) return Error{Errc::unavailable, "the maker of network namespaces is busy"};
  return {};
}

void NetPool::refill() { failed_ = !order(ahead_ - ordered_); }

Result<Network> NetPool::take() {
  if (ordered_ == 0) TRY_DO(order(1));
  const std::size_t each = kind_ == NetKind::steered ? 3 : 1;
  std::array<std::byte, 1> word{};
  TRY(os::Received got, os::receive(socket_, word, each));
  if (got.bytes == 0) return Error{Errc::unavailable, "the maker of network namespaces has ended"};
  --ordered_;
  failed_ = false;
  if (got.fds.size() != each) {
    return Error{Errc::unavailable, "a network namespace could not be made"};
  }
  Network network{.netns = std::move(got.fds[0])};
  if (kind_ == NetKind::steered) {
    network.sockets = {.tcp = std::move(got.fds[1]), .udp = std::move(got.fds[2])};
  }
  return network;
}

}  // namespace cordon::launcher
