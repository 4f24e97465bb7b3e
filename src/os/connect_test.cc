// SPDX-License-Identifier: Apache-2.0
#include "os/connect.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "os/accept.h"

namespace cordon::os {
namespace {

// Of this machine's loopback, with a port of its own; it listens, or refuses.
class Connect : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    sockaddr_storage name{};
    name.ss_family = GetParam() ? AF_INET6 : AF_INET;
    if (GetParam()) reinterpret_cast<sockaddr_in6*>(&name)->sin6_addr = in6addr_loopback;
    if (!GetParam())
      reinterpret_cast<sockaddr_in*>(&name)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener_ = Fd{::socket(name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    socklen_t size = GetParam() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    auto* const raw = reinterpret_cast<sockaddr*>(&name);
    if (!listener_ || ::bind(listener_.get(), raw, size) != 0) GTEST_SKIP() << "no such loopback";
    ASSERT_EQ(::getsockname(listener_.get(), raw, &size), 0);
    // The port lies at the same place in both.
    port_ = ntohs(reinterpret_cast<sockaddr_in*>(&name)->sin_port);
    address_ = IpAddress::of(*raw).value_or(address_);
    socket_ = Fd{::socket(name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  }

  // Nothing: it has begun, and ended well.
  Status connect() {
    TRY_DO(begin_connect(socket_.get(), address_, port_));
    pollfd waits{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    if (::poll(&waits, 1, 10'000) != 1) return Error{Errc::timeout, "never writable"};
    return has_connected(socket_.get());
  }

  Fd listener_;
  Fd socket_;
  IpAddress address_;
  std::uint16_t port_ = 0;
};

TEST_P(Connect, ReachesWhoListens) {
  ASSERT_EQ(::listen(listener_.get(), 1), 0);
  const Status connected = connect();
  ASSERT_TRUE(connected) << connected.error().text();
  const auto arrival = accept_now(listener_);
  ASSERT_TRUE(arrival) << arrival.error().text();
  EXPECT_EQ(arrival->address, address_);
}

TEST_P(Connect, SaysThatNobodyListens) {
  const Status refused = connect();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause(), std::errc::connection_refused) << refused.error().text();
}

INSTANTIATE_TEST_SUITE_P(Family, Connect, testing::Bool(),
                         [](const auto& info) { return info.param ? "OfIpv6" : "OfIpv4"; });

}  // namespace
}  // namespace cordon::os
