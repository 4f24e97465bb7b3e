// SPDX-License-Identifier: Apache-2.0
#include "launcher/inner_network.h"

#include <array>
#include <cstring>
#include <net/if.h>
#include <netinet/if_ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "os/datagram.h"
#include "os/namespace.h"
#include "os/steering.h"
#include "os/tap.h"
#include "os/test_support.h"

namespace cordon::launcher {
namespace {

constexpr std::uint32_t kOfTheGuest = 0x0a000006;
constexpr std::uint32_t kAsked = 0x08080808;
constexpr std::uint16_t kDns = 53;

std::array<std::uint8_t, ETH_ALEN> own_address(std::string_view link) {
  ifreq request{};
  std::memcpy(request.ifr_name, link.data(), link.size());
  const os::Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  std::array<std::uint8_t, ETH_ALEN> address{};
  if (::ioctl(socket.get(), SIOCGIFHWADDR, &request) == 0) {
    std::memcpy(address.data(), request.ifr_hwaddr.sa_data, address.size());
  }
  return address;
}

std::uint16_t checksum(const iphdr& head) {
  std::array<std::uint16_t, sizeof head / 2> words{};
  std::memcpy(words.data(), &head, sizeof head);
  std::uint32_t sum = 0;
  for (const std::uint16_t word : words) sum += word;
  while ((sum >> 16U) != 0) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

// A question to a name server, as a machine puts it on its link.
std::vector<std::byte> question(std::uint32_t from) {
  struct [[gnu::packed]] Frame {
    std::array<char, 10> offload;  // none: all zeros
    ethhdr link;
    iphdr ip;
    udphdr udp;
    std::array<char, 4> text;
  } frame{};
  const auto to = own_address(kGuestLink);
  std::memcpy(frame.link.h_dest, to.data(), to.size());
  frame.link.h_source[0] = 2;
  frame.link.h_proto = htons(ETH_P_IP);
  iphdr ip{};
  ip.version = 4;
  ip.ihl = 5;
  ip.ttl = 64;
  ip.protocol = IPPROTO_UDP;
  ip.tot_len = htons(sizeof(iphdr) + sizeof(udphdr) + frame.text.size());
  ip.saddr = htonl(from);
  ip.daddr = htonl(kAsked);
  ip.check = checksum(ip);
  frame.ip = ip;
  frame.udp.source = htons(4000);
  frame.udp.dest = htons(kDns);
  frame.udp.len = htons(sizeof(udphdr) + frame.text.size());
  frame.text = {'w', 'h', 'o', '?'};
  std::vector<std::byte> bytes(sizeof frame);
  std::memcpy(bytes.data(), &frame, sizeof frame);
  return bytes;
}

// Whether the egress hears it.
bool is_heard(const os::SteeredSockets& sockets, const os::Fd& tap, std::uint32_t from) {
  const auto frame = question(from);
  if (::write(tap.get(), frame.data(), frame.size()) != static_cast<ssize_t>(frame.size())) {
    return false;
  }
  pollfd news{.fd = sockets.udp.get(), .events = POLLIN, .revents = 0};
  ::poll(&news, 1, from == kOfTheGuest ? 5000 : 300);
  std::array<std::byte, 64> buffer{};
  const auto got = os::receive_datagram(sockets.udp, buffer);
  const std::optional<os::Datagram> one = got ? *got : std::nullopt;
  return one && one->from.address == from && one->meant == kAsked;
}

std::string heard_from(std::uint32_t from) {
  return os::in_child([&]() -> std::string {
    const os::NsSet own =
        ::geteuid() == 0 ? os::NsSet{os::Ns::net} : os::NsSet{os::Ns::user, os::Ns::net};
    if (!os::unshare(own)) return "no namespaces";
    const auto sockets = os::steer_own_network();
    if (!sockets) return sockets.error().text();
    const auto tap = os::make_tap(kGuestLink);
    if (!tap) return "no namespaces";  // nor a tap
    if (const Status joined = join_guest_link(kGuestLink); !joined) return joined.error().text();
    return is_heard(*sockets, *tap, from) ? "heard" : "dropped";
  });
}

// A machine has the link's far end to itself, and may write on it what it likes.
TEST(InnerNetwork, HearsAGuestByItsOwnAddressAndByNoOther) {
  const std::string by_its_own = heard_from(kOfTheGuest);
  if (by_its_own == "no namespaces") GTEST_SKIP() << by_its_own;
  EXPECT_EQ(by_its_own, "heard") << "or what follows says nothing";
  // The gateway's, its neighbours' on the link, of the sandbox itself, of loopback, of the world.
  for (const std::uint32_t other : {0x0a000005U, 0x0a000007U, 0x0a000004U, 0x0a000002U, 0x7f000001U,
                                    0x08080808U, 0xc0a80101U, 0x00000000U, 0xffffffffU}) {
    EXPECT_EQ(heard_from(other), "dropped") << std::hex << other;
  }
}

}  // namespace
}  // namespace cordon::launcher
