// SPDX-License-Identifier: Apache-2.0
#include "os/steering.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <vector>

#include "os/file.h"
#include "os/netlink.h"
#include "os/netlink_message.h"
#include "os/nft_batch.h"

namespace cordon::os {
namespace {

using Ipv4 = NftRule::Ipv4;

constexpr Ipv4 kLoopback{127, 0, 0, 0};
constexpr Ipv4 kLoopbackMask{255, 0, 0, 0};
// Without an address that is no loopback one, resolvers take the machine for one without a network.
constexpr Ipv4 kOwnAddress{10, 0, 0, 2};
// Of a guest at the far end of a link of its own, where a kernel of its own stands in between.
constexpr Ipv4 kGuestAddress{10, 0, 0, 6};
constexpr Ipv4 kGateway{10, 0, 0, 5};
// Of our sockets: an address for documentation, so that nobody misses it.
constexpr Ipv4 kSockets{192, 0, 2, 1};
constexpr std::uint16_t kTcpPort = 1;
constexpr std::uint16_t kDnsPort = 53;
// Behind it the kernel lets clients wait; the holder always accepts.
constexpr int kBacklog = 256;
constexpr int kLoopbackLink = 1;  // in every namespace
constexpr std::int32_t kMangle = -150;

NftRule inside() { return NftRule{}.to_block(kLoopback, kLoopbackMask).accept(); }
NftRule own() { return NftRule{}.to(kOwnAddress).accept(); }
NftRule guest() { return NftRule{}.to(kGuestAddress).accept(); }
NftRule tcp() { return NftRule{}.protocol_is(IPPROTO_TCP); }
NftRule dns() { return NftRule{}.protocol_is(IPPROTO_UDP).to_port(kDnsPort); }

// A packet to anywhere leaves through the loopback link and comes in again: there it is steered.
NftBatch make_rules() {
  NftBatch batch{"cordon"};
  batch.chain("pre", NftHook::prerouting, kMangle, true);
  batch.rule("pre", inside());
  batch.rule("pre", own());
  batch.rule("pre", tcp().steer_to(kSockets, kTcpPort).accept());
  batch.rule("pre", dns().steer_to(kSockets, kDnsPort).accept());
  // Without a listener the steering lets packets fall through, to whatever listens inside.
  batch.rule("pre", tcp().count().reject_with_reset());
  // What the output chain refuses to a program of this namespace comes here from a guest, in whose
  // own stack no other refusal ends the waiting.
  batch.rule("pre", NftRule{}.count().reject_as_closed());
  batch.chain("out", NftHook::output, 0, false);
  batch.rule("out", inside());
  batch.rule("out", own());
  batch.rule("out", guest());
  batch.rule("out", tcp().accept());
  batch.rule("out", dns().accept());
  // A drop would hang programs.
  batch.rule("out", NftRule{}.count().reject_as_prohibited());
  return batch;
}

struct Rules {
  NftBatch batch = make_rules();
  std::span<const std::byte> bytes = batch.finish();
};
const Rules& rules() {
  static Rules made;
  return made;
}

std::span<const std::byte> raw(const Ipv4& address) { return std::as_bytes(std::span{address}); }

NetlinkMessage link_up() {
  NetlinkMessage message{RTM_NEWLINK, NLM_F_REQUEST};
  ifinfomsg fixed{};
  fixed.ifi_index = kLoopbackLink;
  fixed.ifi_flags = IFF_UP;
  fixed.ifi_change = IFF_UP;
  message.fixed(fixed);
  return message;
}

NetlinkMessage own_address() {
  NetlinkMessage message{RTM_NEWADDR, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL};
  ifaddrmsg fixed{};
  fixed.ifa_family = AF_INET;
  fixed.ifa_prefixlen = 32;
  fixed.ifa_index = kLoopbackLink;
  message.fixed(fixed);
  message.attribute(IFA_LOCAL, raw(kOwnAddress));
  message.attribute(IFA_ADDRESS, raw(kOwnAddress));
  return message;
}

// All of IPv4 is this machine's. Without a source of its own a packet would come from where it
// goes.
NetlinkMessage route_home() {
  NetlinkMessage message{RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL};
  rtmsg fixed{};
  fixed.rtm_family = AF_INET;
  fixed.rtm_table = RT_TABLE_LOCAL;
  fixed.rtm_protocol = RTPROT_STATIC;
  fixed.rtm_type = RTN_LOCAL;
  fixed.rtm_scope = RT_SCOPE_HOST;
  message.fixed(fixed);
  message.attribute(RTA_OIF, std::uint32_t{kLoopbackLink});
  message.attribute(RTA_PREFSRC, raw(kOwnAddress));
  return message;
}

Status bring_up() {
  const Fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  if (!socket) return Error::from_errno("netlink socket");
  std::vector<std::byte> batch;
  std::uint32_t sequence = 0;
  for (NetlinkMessage message : {link_up(), own_address(), route_home()}) {
    const auto bytes = message.finish(++sequence);
    batch.insert(batch.end(), bytes.begin(), bytes.end());
  }
  if (::send(socket.get(), batch.data(), batch.size(), 0) < 0) return Error::from_errno("netlink");
  // The kernel has done all of it when send returns; only refusals and the last one are answered.
  std::array<std::byte, 8192> buffer{};
  for (;;) {
    const ssize_t length = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return Error::from_errno("netlink recv");
    TRY(const auto parts,
        split_messages(std::span{buffer}.first(static_cast<std::size_t>(length))));
    for (const NetlinkPart& part : parts) {
      if (part.type != NLMSG_ERROR) continue;
      TRY(const auto answer, read_fixed<nlmsgerr>(part.payload));
      if (answer.error != 0) return Error::from_errno("netlink", -answer.error);
      if (part.sequence == sequence) return {};
    }
  }
}

Result<Fd> open_socket(int type, std::uint16_t port) {
  Fd socket{::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) return Error::from_errno("socket");
  const int on = 1;
  if (::setsockopt(socket.get(), IPPROTO_IP, IP_TRANSPARENT, &on, sizeof on) != 0) {
    return Error::from_errno("IP_TRANSPARENT");
  }
  if (type == SOCK_DGRAM &&
      ::setsockopt(socket.get(), IPPROTO_IP, IP_PKTINFO, &on, sizeof on) != 0) {
    return Error::from_errno("IP_PKTINFO");
  }
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  std::memcpy(&at.sin_addr, kSockets.data(), kSockets.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
    return Error::from_errno("bind");
  }
  return socket;
}

// By the older of two ways: the newer one is three times as long, which is felt where each step of
// a kernel is translated.
Status bring_up_loopback() {
  const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!socket) return Error::from_errno("socket");
  ifreq wanted{.ifr_ifrn = {"lo"}, .ifr_ifru = {}};
  wanted.ifr_flags = IFF_UP;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &wanted) != 0) return Error::from_errno("SIOCSIFFLAGS");
  return {};
}

}  // namespace

IpBlock steered_guest() { return {.address = IpAddress::v4(kGuestAddress), .prefix = 30}; }
IpAddress steered_gateway() { return IpAddress::v4(kGateway); }

Status join_as_guest(std::string_view link) {
  TRY_DO(bring_up_loopback());
  if (link.empty()) return {};
  TRY(RouteSocket route, RouteSocket::open());
  TRY(const Link outward, route.link(link));
  TRY_DO(route.add_address(outward.index, steered_guest()));
  TRY_DO(route.set_link_up(outward.index));
  return route.add_route({.to = {IpAddress::v4({0, 0, 0, 0}), 0},
                          .link = outward.index,
                          .gateway = steered_gateway()});
}

std::span<const std::byte> steering_rules() { return rules().bytes; }

Result<SteeredSockets> steer_own_network() {
  // Rules before sockets: until then everything is refused.
  TRY_DO(send_nft_batch(rules().bytes, rules().batch.last()));
  TRY_DO(bring_up());
  SteeredSockets sockets;
  TRY(sockets.tcp, open_socket(SOCK_STREAM, kTcpPort));
  TRY(sockets.udp, open_socket(SOCK_DGRAM, kDnsPort));
  if (::listen(sockets.tcp.get(), kBacklog) != 0) return Error::from_errno("listen");
  // A bound for what a flood of short connections leaves behind. A kernel without it has none.
  static_cast<void>(os::write_file(os::at_cwd(), "/proc/sys/net/ipv4/tcp_max_tw_buckets", "4096"));
  return sockets;
}

}  // namespace cordon::os
