// SPDX-License-Identifier: Apache-2.0
// Group G, arguments: socket families, options and terminal controls.
#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

Answer try_socket(long domain, long type, long protocol) {
  const Answer got = call(SYS_socket, domain, type | SOCK_CLOEXEC, protocol);
  if (!got.failed()) ::close(static_cast<int>(got.value));
  return got;
}

void families(const Words&, Findings& out) {
  constexpr std::array<int, 4> kAllowed = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
  for (int family = 0; family < 64; ++family) {
    if (std::find(kAllowed.begin(), kAllowed.end(), family) != kAllowed.end()) continue;
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
      const Answer got = try_socket(family, type, 0);
      const bool ok = got.failed() && got.error == EAFNOSUPPORT;
      if (!ok) out.holds("family " + std::to_string(family), false, text_of(got));
    }
  }
  // Junk above what the kernel reads must not make another family of it.
  out.refused("family 40 with junk above", try_socket(40L | (1L << 40U), SOCK_STREAM, 0),
              {EAFNOSUPPORT});
  const Answer local = try_socket(AF_UNIX, SOCK_STREAM, 0);
  out.control("AF_UNIX", !local.failed(), text_of(local));
  const Answer inet = try_socket(AF_INET, SOCK_STREAM, 0);
  out.control("AF_INET", !inet.failed(), text_of(inet));
}

void types_and_protocols(const Words&, Findings& out) {
  const auto refused = {EPERM, EPROTONOSUPPORT, ESOCKTNOSUPPORT};
  for (const int family : {AF_INET, AF_INET6}) {
    const std::string name = family == AF_INET ? "inet " : "inet6 ";
    for (const int type : {int{SOCK_RAW}, int{SOCK_RDM}, int{SOCK_PACKET}, 6}) {
      out.refused(name + "type " + std::to_string(type), try_socket(family, type, IPPROTO_ICMP),
                  refused);
    }
    for (const int protocol : {1, 58, 115, 132, 136, 255, 262}) {
      for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
        out.refused(name + "protocol " + std::to_string(protocol),
                    try_socket(family, type, protocol), refused);
      }
    }
  }
  const Answer udp = try_socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
  out.control("UDP", !udp.failed(), text_of(udp));
}

void netlink(const Words&, Findings& out) {
  for (int protocol = 1; protocol < 32; ++protocol) {
    out.refused("netlink " + std::to_string(protocol), try_socket(AF_NETLINK, SOCK_RAW, protocol),
                {EPROTONOSUPPORT});
  }
  const Answer route = try_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  out.control("netlink route", !route.failed(), text_of(route));
}

struct Option {
  const char* name;
  int level;
  int option;
};

// On -1, where the kernel alone would say EBADF.
void socket_options(const Words&, Findings& out) {
  constexpr Option kRefused[] = {
      {"TCP_ULP", SOL_TCP, 31},
      {"TCP_REPAIR", SOL_TCP, 19},
      {"SOL_ALG", 279, 1},
      {"SOL_PACKET", 263, 1},
      {"SOL_XDP", 283, 1},
      {"IP_XFRM_POLICY", SOL_IP, 17},
      {"IPT_SO_SET_REPLACE", SOL_IP, 64},
      {"IPV6_XFRM_POLICY", SOL_IPV6, 35},
      {"IP6T_SO_SET_REPLACE", SOL_IPV6, 64},
      {"SO_ATTACH_BPF", SOL_SOCKET, 50},
      {"SO_ATTACH_REUSEPORT_CBPF", SOL_SOCKET, 51},
      {"SO_ATTACH_REUSEPORT_EBPF", SOL_SOCKET, 52},
  };
  for (const Option& each : kRefused) {
    out.refused(each.name, call(SYS_setsockopt, -1, each.level, each.option, nullptr, 0), {EPERM});
  }
  const Answer reuse = call(SYS_setsockopt, -1, SOL_SOCKET, SO_REUSEADDR, nullptr, 0);
  out.control("SO_REUSEADDR reaches the kernel", reuse.error == EBADF, text_of(reuse));
}

void terminal_controls(const Words&, Findings& out) {
  constexpr long kJunk = 1L << 40U;
  constexpr std::pair<const char*, long> kRefused[] = {
      {"TIOCSTI", TIOCSTI},   {"TIOCLINUX", TIOCLINUX}, {"TIOCSETD", TIOCSETD},
      {"TIOCCONS", TIOCCONS}, {"VT_ACTIVATE", 0x5606},  {"KDSETMODE", 0x4b3a},
      {"KDSKBENT", 0x4b47}};
  for (const auto& [name, command] : kRefused) {
    out.refused(name, call(SYS_ioctl, -1, command, nullptr), {EPERM, ENOTTY});
    out.refused(std::string{name} + " with junk above",
                call(SYS_ioctl, -1, command | kJunk, nullptr), {EPERM, ENOTTY});
  }
  const Answer size = call(SYS_ioctl, -1, TIOCGWINSZ, nullptr);
  out.control("TIOCGWINSZ reaches the kernel", size.error == EBADF, text_of(size));
}

constexpr Row kRows[] = {
    {"C096", families},       {"C097", types_and_protocols}, {"C098", netlink},
    {"C099", socket_options}, {"C103", terminal_controls},
};

}  // namespace

std::span<const Row> socket_rows() { return kRows; }

}  // namespace cordon::probe
