// SPDX-License-Identifier: Apache-2.0
#include "os/netlink.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "os/namespace.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

// Runs `act`, which gets a socket and the loopback link, in a network namespace of its own.
template <class Act>
std::string in_new_network(Act act) {
  return in_child([&]() -> std::string {
    const auto run = [&]() -> Result<std::string> {
      TRY_DO(unshare({Ns::user, Ns::net}));
      TRY(RouteSocket route, RouteSocket::open());
      TRY(const Link loopback, route.link("lo"));
      return act(route, loopback);
    };
    const Result<std::string> said = run();
    return said ? *said : said.error().text();
  });
}

std::string bind_to(const char* address) {
  const Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket) return "no socket";
  sockaddr_in raw{};
  raw.sin_family = AF_INET;
  ::inet_pton(AF_INET, address, &raw.sin_addr);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&raw), sizeof raw) == 0) return "ok";
  return errno == EADDRNOTAVAIL ? "not ours" : "another error";
}

// Nobody listens: a network that works refuses, one that is down does not get there.
std::string connect_to_loopback() {
  const Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket) return "no socket";
  sockaddr_in raw{};
  raw.sin_family = AF_INET;
  raw.sin_port = htons(9);
  raw.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&raw), sizeof raw) == 0)
    return "ok";
  return errno == ECONNREFUSED ? "refused" : errno == ENETUNREACH ? "unreachable" : "another error";
}

class Netlink : public testing::Test {
 protected:
  void SetUp() override {
    const std::string said = in_child([] { return outcome(unshare({Ns::user, Ns::net})); });
    if (said != "ok") GTEST_SKIP() << "no network namespace of our own: " << said;
  }
};

TEST_F(Netlink, NewNamespaceHasOnlyALoopbackThatIsDown) {
  EXPECT_EQ(in_new_network([](RouteSocket& route, const Link& loopback) -> Result<std::string> {
              TRY(const auto links, route.links());
              const bool others_up = std::ranges::any_of(links, &Link::up);
              return std::string{loopback.loopback ? "loopback" : "?"} +
                     (others_up ? " up" : " down");
            }),
            "loopback down");
}

TEST_F(Netlink, LinkComesUp) {
  EXPECT_EQ(in_new_network([](RouteSocket& route, const Link& loopback) -> Result<std::string> {
              const std::string before = connect_to_loopback();
              TRY_DO(route.set_link_up(loopback.index));
              TRY(const Link now, route.link("lo"));
              return before + (now.up ? ", up, " : ", down, ") + connect_to_loopback();
            }),
            "unreachable, up, refused");
}

TEST_F(Netlink, AddressIsAddedOnce) {
  EXPECT_EQ(in_new_network([](RouteSocket& route, const Link& loopback) -> Result<std::string> {
              TRY_DO(route.set_link_up(loopback.index));
              const IpBlock address{IpAddress::v4({10, 1, 2, 3}), 32};
              const std::string before = bind_to("10.1.2.3");
              TRY_DO(route.add_address(loopback.index, address));
              const auto again = route.add_address(loopback.index, address);
              return before + ", " + bind_to("10.1.2.3") + ", " + outcome(again);
            }),
            "not ours, ok, address 10.1.2.3/32 of link 1: netlink: File exists");
}

TEST_F(Netlink, LocalRouteMakesAWholeBlockOurs) {
  EXPECT_EQ(in_new_network([](RouteSocket& route, const Link& loopback) -> Result<std::string> {
              TRY_DO(route.set_link_up(loopback.index));
              const std::string before = bind_to("198.51.100.77");
              TRY_DO(route.add_route({.to = {IpAddress::v4({198, 51, 100, 0}), 24},
                                      .link = loopback.index,
                                      .gateway = {},
                                      .local = true}));
              return before + ", " + bind_to("198.51.100.77");
            }),
            "not ours, ok");
}

TEST_F(Netlink, RoutesGoThroughAGatewayOrToTheLink) {
  EXPECT_EQ(in_new_network([](RouteSocket& route, const Link& loopback) -> Result<std::string> {
              TRY_DO(route.set_link_up(loopback.index));
              TRY_DO(route.add_address(loopback.index, {IpAddress::v4({10, 1, 2, 3}), 24}));
              TRY_DO(route.add_route({.to = {IpAddress::v4({10, 9, 0, 0}), 16},
                                      .link = loopback.index,
                                      .gateway = {},
                                      .local = false}));
              const auto unreachable = route.add_route({.to = {IpAddress::v4({10, 8, 0, 0}), 16},
                                                        .link = loopback.index,
                                                        .gateway = IpAddress::v4({192, 0, 2, 1}),
                                                        .local = false});
              return outcome(unreachable);
            }),
            "route 10.8.0.0/16: netlink: Network is unreachable");
}

TEST_F(Netlink, SixthVersionAddressesWorkAtOnce) {
  const std::string said =
      in_new_network([](RouteSocket& route, const Link& loopback) -> Result<std::string> {
        TRY_DO(route.set_link_up(loopback.index));
        TRY(const IpAddress address, IpAddress::parse("fd00::7"));
        TRY_DO(route.add_address(loopback.index, {address, 128}));
        const Fd socket{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in6 raw{};
        raw.sin6_family = AF_INET6;
        ::inet_pton(AF_INET6, "fd00::7", &raw.sin6_addr);
        const bool bound =
            ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&raw), sizeof raw) == 0;
        return std::string{bound ? "bound" : "refused"};
      });
  if (said.ends_with("Operation not supported")) GTEST_SKIP() << "no IPv6: " << said;
  EXPECT_EQ(said, "bound");
}

TEST(NetlinkRights, ChangesAreRefusedWithoutThem) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return "setresuid";
              auto route = RouteSocket::open();
              if (!route) return outcome(route);
              // Asks for what is so already: were it allowed, nothing would change.
              const auto loopback = route->link("lo");
              if (!loopback) return outcome(loopback);
              return outcome(route->set_link_up(loopback->index));
            }),
            "link 1 up: netlink: Operation not permitted");
}

TEST(NetlinkRights, AnyoneMayListLinks) {
  auto route = RouteSocket::open();
  ASSERT_TRUE(route) << route.error().text();
  EXPECT_TRUE(route->link("lo"));
  const auto none = route->link("no-such-link");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Errc::not_found);
}

}  // namespace
}  // namespace cordon::os
