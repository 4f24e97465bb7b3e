// SPDX-License-Identifier: Apache-2.0
#include "egress/dialler.h"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "async/waiting.h"
#include "egress/tcp.h"
#include "os/connect.h"
#include "os/own_addresses.h"
#include "policy/explain.h"
#include "policy/host.h"

namespace cordon::egress {
namespace {

using asio::ip::tcp;

constexpr std::chrono::seconds kConnect{10};
// Links come and go; between two looks nobody gains an address that matters.
constexpr std::chrono::milliseconds kOwnFor{500};

// Not async_connect: it would look once more whether the socket has become writable.
async::Task<void> connect_to(os::IpAddress address, std::uint16_t port, tcp::socket& socket,
                             std::chrono::steady_clock::duration time) {
  boost::system::error_code failed;
  boost::system::error_code ignored;
  socket.close(ignored);  // of the address before
  socket.open(address.is_v6() ? tcp::v6() : tcp::v4(), failed);
  if (!failed) socket.non_blocking(true, failed);
  if (failed) co_return Error::from_errno("socket", failed.value());
  {
    const SocketLimit limit{socket, time};
    Status connected = os::begin_connect(socket.native_handle(), address, port);
    if (connected) {
      const auto [error] = co_await socket.async_wait(tcp::socket::wait_write, async::kQuiet);
      if (error && limit.has_passed()) {
        co_return Error{Errc::timeout, address.text() + " does not answer"};
      }
      connected = error ? Error::from_errno("connect", error.value())
                        : os::has_connected(socket.native_handle());
    }
    if (!connected) co_return std::move(connected).error().with(address.text());
  }
  socket.set_option(tcp::no_delay{true}, ignored);
  co_return Status{};
}

// What a deny-list of the policy says against an address. Empty: nothing.
std::string denied_by(const policy::Policy& policy, const std::string& address) {
  const policy::Decision decision = policy.decide_address(address);
  if (decision.allowed()) return {};
  return fmt::format("{} is in egress_denylist ({})", address, rule_of(policy, decision));
}

}  // namespace

Result<const std::vector<os::IpAddress>*> Dialler::own_addresses() {
  const Ticks now = std::chrono::steady_clock::now();
  if (own_.empty() || now - own_seen_ > kOwnFor) {
    TRY(own_, os::own_addresses());
    own_seen_ = now;
  }
  return &own_;
}

std::optional<std::vector<os::IpAddress>> Dialler::known_addresses(const std::string& host) {
  // A port that the policy opens by number: the one way to the host's own loopback.
  if (host == policy::kHostName) return std::vector{os::IpAddress::v4({127, 0, 0, 1})};
  if (!policy::ipv4_from(host)) return resolver_.known(host);
  const auto literal = os::IpAddress::parse(host);
  if (!literal) return std::nullopt;
  return std::vector{*literal};
}

Status Dialler::drop_refused(std::vector<os::IpAddress>& addresses,
                             const LiveConnection& connection) {
  TRY(const auto* const own, own_addresses());
  std::string why;
  // One bad address among good ones is what a rebinding resolver answers: the good ones are
  // dialled, the bad one never is.
  std::erase_if(addresses, [&](const os::IpAddress& address) {
    auto refused = refuse_address(address, connection.passage.addresses, *own);
    if (refused && why.empty()) why = std::move(refused->why);
    return refused.has_value();
  });
  if (addresses.empty()) return Error{Errc::denied, connection.host + ": " + why};
  return {};
}

async::Task<os::IpAddress> Dialler::dial(LiveConnection& connection, const policy::Policy& policy,
                                         tcp::socket& socket) {
  const bool is_host = connection.host == policy::kHostName;
  std::vector<os::IpAddress> addresses;
  if (auto known = known_addresses(connection.host)) {
    addresses = *std::move(known);
  } else {
    CO_TRY(addresses, co_await resolver_.resolve(connection.host));
  }
  if (!is_host) CO_TRY_DO(drop_refused(addresses, connection));
  const Ticks late = std::chrono::steady_clock::now() + kConnect;
  Error last{Errc::timeout, connection.host + " does not answer"};
  for (const os::IpAddress& address : addresses) {
    const auto left = late - std::chrono::steady_clock::now();
    if (left <= std::chrono::milliseconds{1}) break;
    if (connection.ended) co_return Error{Errc::unavailable, "it is allowed no more"};
    if (!is_host) {
      // The policy may have changed while we waited: it is asked right before each is dialled.
      std::string listed = listed_as(address);
      if (const std::string why = denied_by(policy, listed); !why.empty()) {
        last = Error{Errc::denied, fmt::format("{}: {}", connection.host, why)};
        continue;
      }
      connection.address = std::move(listed);
    }
    // Each of several gets its share: a first one that drops everything must not hide the others.
    const auto share = addresses.size() > 1 ? left / 3 : left;
    const auto connected = co_await connect_to(address, connection.port, socket, share);
    if (connected) co_return address;
    if (connected.error().code() != Errc::timeout) last = connected.error();
  }
  co_return last;
}

}  // namespace cordon::egress
