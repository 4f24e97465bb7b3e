// SPDX-License-Identifier: Apache-2.0
// Which sockets there may be, and which of their options. All arguments are ints to the kernel.
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "os/filter/table.h"

namespace cordon::os {
namespace {

constexpr FilterAction kAllow = FilterAction::allow();
constexpr FilterAction kForbid = FilterAction::fail(EPERM);

// The flags SOCK_CLOEXEC and SOCK_NONBLOCK stand above the type.
constexpr ArgumentTest is_type(std::uint32_t type) { return is(1, type, 0xF); }
constexpr ArgumentTest is_protocol(std::uint32_t protocol) { return is(2, protocol); }

// AF_INET is 2 and AF_INET6 is 10: they differ in one bit.
constexpr std::uint64_t kBothInet = kLowHalf & ~std::uint64_t{AF_INET ^ AF_INET6};
static_assert((AF_INET6 & kBothInet) == AF_INET);
constexpr ArgumentTest kInet = is(0, AF_INET, kBothInet);
constexpr ArgumentTest kUnix = is(0, AF_UNIX);
constexpr ArgumentTest kNetlink = is(0, AF_NETLINK);

constexpr ArgumentTest is_level(std::uint32_t level) { return is(1, level); }
constexpr ArgumentTest is_option(std::uint32_t option) { return is(2, option); }
// `even` or the option after it.
constexpr ArgumentTest is_option_pair(std::uint32_t even) { return is(2, even, kLowHalf & ~1ULL); }

// Levels and options that our headers of libc do not have.
constexpr std::uint32_t kSolAlg = 279;
constexpr std::uint32_t kSolPacket = 263;
constexpr std::uint32_t kSolXdp = 283;
constexpr std::uint32_t kAttachFilter = 26;
constexpr std::uint32_t kAttachBpf = 50;  // and 51, SO_ATTACH_REUSEPORT_CBPF
constexpr std::uint32_t kAttachReuseportEbpf = 52;
constexpr std::uint32_t kTcpRepair = 19;
constexpr std::uint32_t kTcpUlp = 31;     // kTLS and espintcp
constexpr std::uint32_t kUdpEncap = 100;  // IPsec in UDP
constexpr std::uint32_t kIpXfrm = 16;     // IP_IPSEC_POLICY, IP_XFRM_POLICY
constexpr std::uint32_t kIpv6Xfrm = 34;   // the same two for IPv6
constexpr std::uint32_t kIpTables = 64;   // IP(6)T_SO_SET_REPLACE, _ADD_COUNTERS
constexpr std::uint32_t kArpTables = 96;
constexpr std::uint32_t kEbTables = 128;

}  // namespace

// C096, C097, C098. A network namespace holds no vsock, and AF_ALG, AF_RXRPC and the rest have had
// more holes than users.
RuledCall ruled_socket() {
  constexpr FilterAction kBadProtocol = FilterAction::fail(EPROTONOSUPPORT);
  return {{"socket", SYS_socket},
          {
              {kAllow, {kUnix, is_type(SOCK_STREAM)}},
              {kAllow, {kUnix, is_type(SOCK_DGRAM)}},
              {kAllow, {kUnix, is_type(SOCK_SEQPACKET)}},
              {kForbid, {kUnix}},
              // Not SOCK_SEQPACKET: with protocol 0 it loads SCTP.
              {kAllow, {kInet, is_type(SOCK_STREAM), is_protocol(0)}},
              {kAllow, {kInet, is_type(SOCK_STREAM), is_protocol(IPPROTO_TCP)}},
              {kAllow, {kInet, is_type(SOCK_DGRAM), is_protocol(0)}},
              {kAllow, {kInet, is_type(SOCK_DGRAM), is_protocol(IPPROTO_UDP)}},
              {kBadProtocol, {kInet, is_type(SOCK_STREAM)}},
              {kBadProtocol, {kInet, is_type(SOCK_DGRAM)}},
              {kForbid, {kInet}},
              // Protocol 0 is NETLINK_ROUTE, by which programs list interfaces.
              {kAllow, {kNetlink, is_type(SOCK_RAW), is_protocol(0)}},
              {kAllow, {kNetlink, is_type(SOCK_DGRAM), is_protocol(0)}},
              {kForbid, {kNetlink, is_protocol(0)}},
              {kBadProtocol, {kNetlink}},
          },
          FilterAction::fail(EAFNOSUPPORT)};
}

// C099: options that reach other parts of the kernel than the socket.
RuledCall ruled_setsockopt() {
  return {{"setsockopt", SYS_setsockopt},
          {
              {kForbid, {is_level(SOL_SOCKET), is_option(kAttachFilter)}},
              {kForbid, {is_level(SOL_SOCKET), is_option_pair(kAttachBpf)}},
              {kForbid, {is_level(SOL_SOCKET), is_option(kAttachReuseportEbpf)}},
              {kForbid, {is_level(IPPROTO_TCP), is_option(kTcpUlp)}},
              {kForbid, {is_level(IPPROTO_TCP), is_option(kTcpRepair)}},
              {kForbid, {is_level(IPPROTO_UDP), is_option(kUdpEncap)}},
              {kForbid, {is_level(IPPROTO_IP), is_option_pair(kIpXfrm)}},
              {kForbid, {is_level(IPPROTO_IP), is_option_pair(kIpTables)}},
              {kForbid, {is_level(IPPROTO_IP), is_option_pair(kArpTables)}},
              {kForbid, {is_level(IPPROTO_IP), is_option_pair(kEbTables)}},
              {kForbid, {is_level(IPPROTO_IPV6), is_option_pair(kIpv6Xfrm)}},
              {kForbid, {is_level(IPPROTO_IPV6), is_option_pair(kIpTables)}},
              {kForbid, {is_level(kSolAlg)}},
              {kForbid, {is_level(kSolPacket)}},
              {kForbid, {is_level(kSolXdp)}},
          },
          kAllow};
}

}  // namespace cordon::os
