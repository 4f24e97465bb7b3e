// SPDX-License-Identifier: Apache-2.0
// A namespace whose traffic is steered, and one connection that must arrive.
#include "os/probe_network.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>

#include "os/datagram.h"
#include "os/namespace.h"
#include "os/steering.h"

namespace cordon::os {
namespace {

// An address of the documentation: nobody is there, and nothing leaves.
constexpr std::uint32_t kSomewhere = 0xCB007107;  // 203.0.113.7
constexpr std::uint16_t kSomePort = 443;

Status steer_one_connection() {
  TRY_DO(unshare(Ns::net));
  TRY(const SteeredSockets sockets, steer_own_network());
  const Fd client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!client) return Error::from_errno("socket");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(kSomePort);
  to.sin_addr.s_addr = htonl(kSomewhere);
  if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    return Error::from_errno("connect");
  }
  const Fd accepted{::accept4(sockets.tcp.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  if (!accepted) return Error::from_errno("accept");
  TRY(const Ipv4Port meant, local_name(accepted.get()));
  if (meant != Ipv4Port{kSomewhere, kSomePort}) {
    return Error{Errc::unavailable, "a steered connection does not tell where it was going"};
  }
  return {};
}

}  // namespace

Fact probe_network_filter(const Caller& caller, const TrialLimit& limit) {
  const auto act = []() -> Fact {
    const Status done = steer_one_connection();
    if (done) return ok_fact("nftables");
    Fact fact = refused_fact(done.error());
    if (done.error().cause().value() == EPROTONOSUPPORT) fact.support = Support::absent;
    return fact;
  };
  return in_user_namespace(caller, act, limit);
}

}  // namespace cordon::os
