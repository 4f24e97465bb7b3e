// SPDX-License-Identifier: Apache-2.0
// NETLINK_ROUTE: requests with acknowledgement, and one dump.
#include "os/netlink.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

#include <fmt/format.h>

namespace cordon::os {
namespace {

// The kernel sends dumps in pieces of at most 32 KiB.
constexpr std::size_t kBuffer = std::size_t{64} << 10U;

unsigned char family_of(const IpAddress& address) { return address.is_v6() ? AF_INET6 : AF_INET; }

Result<std::vector<std::byte>> receive_piece(const Fd& socket) {
  std::vector<std::byte> piece(kBuffer);
  ssize_t got = 0;
  do {
    // MSG_TRUNC makes the result the true length of a message that did not fit.
    got = ::recv(socket.get(), piece.data(), piece.size(), MSG_TRUNC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return Error::from_errno("netlink recv");
  if (static_cast<std::size_t>(got) > piece.size()) {
    return Error{Errc::invalid, "netlink recv: a message of " + std::to_string(got) + " bytes"};
  }
  piece.resize(static_cast<std::size_t>(got));
  return piece;
}

// 0 for an acknowledgement, else the errno of the refusal.
Result<int> error_number(const NetlinkPart& message) {
  TRY(const auto answer, read_fixed<nlmsgerr>(message.payload));
  return -answer.error;
}

Result<Link> to_link(const NetlinkPart& message) {
  TRY(const auto fixed, read_fixed<ifinfomsg>(message.payload));
  Link link{.index = static_cast<std::uint32_t>(fixed.ifi_index),
            .name = {},
            .up = (fixed.ifi_flags & IFF_UP) != 0,
            .loopback = (fixed.ifi_flags & IFF_LOOPBACK) != 0};
  TRY(const auto attributes, split_attributes(message.payload.subspan(sizeof fixed)));
  for (const NetlinkPart& attribute : attributes) {
    if (attribute.type != IFLA_IFNAME) continue;
    link.name.assign(reinterpret_cast<const char*>(attribute.payload.data()),
                     attribute.payload.size());
    link.name.resize(std::min(link.name.find('\0'), link.name.size()));
  }
  return link;
}

// Takes the links of one piece of a dump. True: it was the last.
Result<bool> take_links(std::span<const std::byte> piece, std::uint32_t sequence,
                        std::vector<Link>& links) {
  TRY(const auto messages, split_messages(piece));
  for (const NetlinkPart& message : messages) {
    if (message.sequence != sequence) continue;
    if (message.type == NLMSG_DONE) return true;
    if (message.type == NLMSG_ERROR) {
      TRY(const int number, error_number(message));
      return Error::from_errno("netlink", number).with("links");
    }
    if (message.type != RTM_NEWLINK) continue;
    TRY(Link link, to_link(message));
    links.push_back(std::move(link));
  }
  return false;
}

std::span<const std::byte> raw(const IpAddress& address) { return std::as_bytes(address.bytes()); }

}  // namespace

Result<RouteSocket> RouteSocket::open() {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return Error::from_errno("netlink socket");
  Fd socket{fd};
  // Connected to the kernel (port 0), so that no other process can send us answers.
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) != 0) {
    return Error::from_errno("netlink connect");
  }
  return RouteSocket{std::move(socket)};
}

Status RouteSocket::send(NetlinkMessage& message) {
  const auto bytes = message.finish(++sequence_);
  if (::send(socket_.get(), bytes.data(), bytes.size(), 0) < 0) {
    return Error::from_errno("netlink send");
  }
  return {};
}

Status RouteSocket::request(NetlinkMessage message, std::string_view what) {
  TRY_DO(send(message));
  while (true) {
    TRY(const auto piece, receive_piece(socket_));
    TRY(const auto messages, split_messages(piece));
    for (const NetlinkPart& answer : messages) {
      if (answer.sequence != sequence_ || answer.type != NLMSG_ERROR) continue;
      TRY(const int number, error_number(answer));
      if (number != 0) return Error::from_errno("netlink", number).with(what);
      return {};
    }
  }
}

Result<std::vector<Link>> RouteSocket::links() {
  NetlinkMessage message{RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP};
  ifinfomsg fixed{};
  fixed.ifi_family = AF_UNSPEC;
  message.fixed(fixed);
  TRY_DO(send(message));
  std::vector<Link> links;
  while (true) {
    TRY(const auto piece, receive_piece(socket_));
    TRY(const bool done, take_links(piece, sequence_, links));
    if (done) return links;
  }
}

Result<Link> RouteSocket::link(std::string_view name) {
  TRY(const std::vector<Link> all, links());
  const auto found = std::ranges::find(all, name, &Link::name);
  if (found == all.end()) return Error{Errc::not_found, fmt::format("no link {}", name)};
  return *found;
}

Status RouteSocket::set_link_up(std::uint32_t index) {
  NetlinkMessage message{RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK};
  ifinfomsg fixed{};
  fixed.ifi_family = AF_UNSPEC;
  fixed.ifi_index = static_cast<int>(index);
  fixed.ifi_flags = IFF_UP;
  fixed.ifi_change = IFF_UP;
  message.fixed(fixed);
  return request(std::move(message), fmt::format("link {} up", index));
}

Status RouteSocket::add_address(std::uint32_t index, const IpBlock& address) {
  NetlinkMessage message{RTM_NEWADDR, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL};
  ifaddrmsg fixed{};
  fixed.ifa_family = family_of(address.address);
  fixed.ifa_prefixlen = address.prefix;
  fixed.ifa_index = index;
  // Without it an IPv6 address is tentative for a second, and bind refuses it meanwhile.
  if (address.address.is_v6()) fixed.ifa_flags = IFA_F_NODAD;
  message.fixed(fixed);
  message.attribute(IFA_LOCAL, raw(address.address));
  message.attribute(IFA_ADDRESS, raw(address.address));
  return request(std::move(message),
                 fmt::format("address {} of link {}", to_string(address), index));
}

Status RouteSocket::add_route(const Route& route) {
  NetlinkMessage message{RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL};
  rtmsg fixed{};
  fixed.rtm_family = family_of(route.to.address);
  fixed.rtm_dst_len = route.to.prefix;
  fixed.rtm_table = route.local || route.before_local ? RT_TABLE_LOCAL : RT_TABLE_MAIN;
  fixed.rtm_protocol = RTPROT_STATIC;
  fixed.rtm_type = route.local ? RTN_LOCAL : RTN_UNICAST;
  // A local route has host scope; one without a gateway reaches only its link.
  fixed.rtm_scope = route.local ? RT_SCOPE_HOST : route.gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  message.fixed(fixed);
  message.attribute(RTA_DST, raw(route.to.address));
  message.attribute(RTA_OIF, route.link);
  if (route.gateway) message.attribute(RTA_GATEWAY, raw(*route.gateway));
  return request(std::move(message), fmt::format("route {}", to_string(route.to)));
}

namespace {

// A link that comes up gets no address of IPv6 by itself.
void forbid_v6(NetlinkMessage& message) {
  const std::uint8_t none = IN6_ADDR_GEN_MODE_NONE;
  const std::size_t families = message.open(IFLA_AF_SPEC);
  const std::size_t v6 = message.open(AF_INET6);
  message.attribute(IFLA_INET6_ADDR_GEN_MODE, std::as_bytes(std::span{&none, 1}));
  message.close(v6);
  message.close(families);
}

}  // namespace

Status RouteSocket::add_pair(std::string_view near, std::string_view far, pid_t process) {
  const auto add = [&](bool has_v6) {
    NetlinkMessage message{RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL};
    ifinfomsg fixed{};
    fixed.ifi_family = AF_UNSPEC;
    message.fixed(fixed);
    message.attribute(IFLA_IFNAME, near);
    if (has_v6) forbid_v6(message);
    const std::size_t info = message.open(IFLA_LINKINFO);
    message.attribute(IFLA_INFO_KIND, "veth");
    const std::size_t data = message.open(IFLA_INFO_DATA);
    const std::size_t peer = message.open(VETH_INFO_PEER);
    message.fixed(fixed);
    message.attribute(IFLA_IFNAME, far);
    message.attribute(IFLA_NET_NS_PID, static_cast<std::uint32_t>(process));
    if (has_v6) forbid_v6(message);
    message.close(peer);
    message.close(data);
    message.close(info);
    return request(std::move(message), fmt::format("links {} and {}", near, far));
  };
  Status added = add(true);
  // A kernel without IPv6 does not even know what it is told to leave.
  if (added || added.error().cause() != std::errc::address_family_not_supported) return added;
  return add(false);
}

}  // namespace cordon::os
