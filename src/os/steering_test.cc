// SPDX-License-Identifier: Apache-2.0
#include "os/steering.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/datagram.h"
#include "os/namespace.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

sockaddr_in name_of(const char* address, std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &name.sin_addr);
  return name;
}

const sockaddr* raw(const sockaddr_in& name) { return reinterpret_cast<const sockaddr*>(&name); }

// "ok", or the errno's name.
std::string connect_to(const Fd& socket, const char* address, std::uint16_t port) {
  const sockaddr_in name = name_of(address, port);
  return ::connect(socket.get(), raw(name), sizeof name) == 0 ? "ok" : ::strerrorname_np(errno);
}

Fd tcp_socket() { return Fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}; }
Fd udp_socket() { return Fd{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)}; }

std::string send_to(const char* address, std::uint16_t port) {
  const Fd socket = udp_socket();
  const sockaddr_in name = name_of(address, port);
  return ::sendto(socket.get(), "x", 1, 0, raw(name), sizeof name) == 1 ? "ok"
                                                                        : ::strerrorname_np(errno);
}

Fd listen_everywhere(std::uint16_t port) {
  Fd socket = tcp_socket();
  const sockaddr_in name = name_of("0.0.0.0", port);
  if (::bind(socket.get(), raw(name), sizeof name) != 0 || ::listen(socket.get(), 4) != 0)
    return {};
  return socket;
}

// Runs `act` in a namespace of its own, with its sockets; "no namespaces" where there is none.
std::string steered(const std::function<std::string(SteeredSockets&)>& act) {
  return in_child([&]() -> std::string {
    if (!unshare(::geteuid() == 0 ? NsSet{Ns::net} : NsSet{Ns::user, Ns::net})) {
      return "no namespaces";
    }
    auto sockets = steer_own_network();
    return sockets ? act(*sockets) : outcome(Status{sockets.error()});
  });
}

#define EXPECT_STEERED(said, expected)             \
  do {                                             \
    const std::string is = (said);                 \
    if (is == "no namespaces") GTEST_SKIP() << is; \
    EXPECT_EQ(is, expected);                       \
  } while (false)

TEST(Steering, ATcpConnectionToAnyAddressArrivesWithTheNameThatItWasMeantFor) {
  EXPECT_STEERED(
      steered([](SteeredSockets& sockets) -> std::string {
        for (const char* address : {"93.184.216.34", "169.254.169.254", "192.168.1.1", "0.1.2.3",
                                    "240.0.0.1", "192.0.2.1", "8.8.8.8"}) {
          const Fd client = tcp_socket();
          const std::string did = connect_to(client, address, 3000);
          if (did != "ok") return std::string{address} + ": " + did;
          const Fd accepted{::accept4(sockets.tcp.get(), nullptr, nullptr, SOCK_CLOEXEC)};
          const auto name = local_name(accepted.get());
          const sockaddr_in wanted = name_of(address, 3000);
          if (!name || name->address != ntohl(wanted.sin_addr.s_addr) || name->port != 3000) {
            return std::string{address} + ": another name";
          }
        }
        return "all";
      }),
      "all");
}

TEST(Steering, LoopbackAndTheOwnAddressStayInside) {
  EXPECT_STEERED(steered([](SteeredSockets&) {
                   const Fd server = listen_everywhere(3000);
                   return connect_to(tcp_socket(), "127.0.0.1", 3000) + " " +
                          connect_to(tcp_socket(), "10.0.0.2", 3000) + " " +
                          connect_to(tcp_socket(), "127.0.0.1", 3001) + " " +
                          connect_to(tcp_socket(), "127.0.0.1", 1);
                 }),
                 "ok ok ECONNREFUSED ECONNREFUSED");
}

TEST(Steering, AServerInsideDoesNotGetWhatWasMeantForOutside) {
  EXPECT_STEERED(steered([](SteeredSockets& sockets) {
                   const Fd server = listen_everywhere(8080);
                   const std::string held = connect_to(tcp_socket(), "93.184.216.34", 8080);
                   sockets.tcp = Fd{};
                   // Nobody holds the listener any more: refused, and not handed to the server.
                   return held + " " + connect_to(tcp_socket(), "93.184.216.34", 8080);
                 }),
                 "ok ECONNREFUSED");
}

TEST(Steering, ADnsQueryArrivesAndItsAnswerComesFromWhereItWasSent) {
  EXPECT_STEERED(
      steered([](SteeredSockets& sockets) -> std::string {
        const Fd client = udp_socket();
        if (connect_to(client, "8.8.8.8", 53) != "ok") return "connect";
        if (::send(client.get(), "who?", 4, 0) != 4) return "send";
        std::array<std::byte, 64> buffer{};
        const auto got = receive_datagram(sockets.udp, buffer);
        if (!got || !*got || (*got)->meant != 0x08080808) return "another address";
        if (!answer_datagram(sockets.udp, **got, std::span{buffer}.first((*got)->bytes))) {
          return "answer";
        }
        std::array<char, 8> back{};
        // The client is connected: it hears 8.8.8.8 and nobody else.
        return ::recv(client.get(), back.data(), back.size(), MSG_DONTWAIT) == 4 ? back.data()
                                                                                 : "nothing";
      }),
      "who?");
}

TEST(Steering, AllElseIsRefusedAtOnce) {
  EXPECT_STEERED(
      steered([](SteeredSockets&) {
        const Fd six{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in6 to{};
        to.sin6_family = AF_INET6;
        to.sin6_port = htons(443);
        ::inet_pton(AF_INET6, "2606:4700::1111", &to.sin6_addr);
        const int said = ::connect(six.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
        const std::string by_six = said == 0 ? "ok" : ::strerrorname_np(errno);
        return send_to("93.184.216.34", 443) + " " + send_to("224.0.0.251", 5353) + " " + by_six;
      }),
      "EPERM EPERM ENETUNREACH");
}

// What nft itself reads out of the bytes.
constexpr const char* kRules = R"(table ip cordon {
	chain pre {
		type filter hook prerouting priority -150; policy drop;
		ip daddr 127.0.0.0/8 accept
		ip daddr 10.0.0.2 accept
		meta l4proto 6 tproxy to 192.0.2.1:1 accept
		udp dport 53 tproxy to 192.0.2.1:53 accept
		meta l4proto 6 counter packets 0 bytes 0 reject with tcp reset
		counter packets 0 bytes 0 reject
	}

	chain out {
		type filter hook output priority 0; policy accept;
		ip daddr 127.0.0.0/8 accept
		ip daddr 10.0.0.2 accept
		ip daddr 10.0.0.6 accept
		meta l4proto 6 accept
		udp dport 53 accept
		counter packets 0 bytes 0 reject with icmp 13
	}
}
)";

TEST(SteeringRoot, TheRulesReadAsTheyAreMeant) {
  if (::geteuid() != 0) GTEST_SKIP() << "nft wants root";
  EXPECT_STEERED(steered([](SteeredSockets&) -> std::string {
                   // NOLINTNEXTLINE(cert-env33-c): a reader that is not ours
                   FILE* const listing = ::popen("/usr/sbin/nft -n list ruleset", "r");
                   if (listing == nullptr) return "no nft";
                   std::string text;
                   std::array<char, 4096> part{};
                   for (std::size_t got = 0;
                        (got = std::fread(part.data(), 1, part.size(), listing)) > 0;) {
                     text.append(part.data(), got);
                   }
                   ::pclose(listing);
                   return text;
                 }),
                 kRules);
}

}  // namespace
}  // namespace cordon::os
