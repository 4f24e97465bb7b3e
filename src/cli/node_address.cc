// SPDX-License-Identifier: Apache-2.0
#include "cli/node_address.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "async/waiting.h"
#include "http/authority.h"
#include "os/socket.h"
#include "policy/text.h"

namespace cordon::cli {
namespace {

Error not_understood(std::string_view text) {
  return {Errc::invalid,
          fmt::format("the node {}: expected the path of a socket, or http://127.0.0.1:PORT",
                      policy::in_quotes(text))};
}

Error not_near(std::string_view text) {
  return {Errc::invalid,
          fmt::format("the node {}: TLS is not spoken here, and a token would go there for all on "
                      "the way to read; bring its socket here, like ssh -L node.sock:{} HOST, and "
                      "name that: --node node.sock",
                      policy::in_quotes(text), kUsualNode)};
}

bool is_loopback(const os::IpAddress& address) {
  const auto bytes = address.bytes();
  if (!address.is_v6()) return bytes[0] == 127;
  return bytes.back() == 1 &&
         std::ranges::all_of(bytes.first(bytes.size() - 1), [](auto byte) { return byte == 0; });
}

Error nobody_there(const NodeAddress& address, const std::error_code& cause) {
  const bool is_refused_by_mode = cause == std::errc::permission_denied;
  return {is_refused_by_mode ? Errc::denied : Errc::unavailable,
          fmt::format("no node at {}: {}; {}", to_string(address), cause.message(),
                      is_refused_by_mode
                          ? "ask its operator for the right to use this socket"
                          : "start cordond, or say where it is: --node, or CORDON_NODE")};
}

}  // namespace

std::string to_string(const NodeAddress& address) {
  if (!address.path.empty()) return address.path;
  const std::string host =
      address.host.is_v6() ? '[' + address.host.text() + ']' : address.host.text();
  return fmt::format("http://{}:{}", host, address.port);
}

Result<NodeAddress> parse_node_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kHttp = "http://";
  if (text.starts_with("https://")) return not_near(text);
  if (!text.starts_with(kHttp)) {
    std::string_view path = text.starts_with(kUnix) ? text.substr(kUnix.size()) : text;
    while (path.starts_with("//")) path.remove_prefix(1);
    // Another scheme, or nothing at all.
    if (path.empty() || path.find("://") != std::string_view::npos) return not_understood(text);
    TRY_DO(os::UnixAddress::at_path(path));
    return NodeAddress{.path = std::string{path}, .host = {}, .port = 0};
  }
  std::string_view place = text.substr(kHttp.size());
  if (place.ends_with('/')) place.remove_suffix(1);
  const auto authority = http::parse_authority(place);
  if (!authority) return not_understood(text);
  const auto host =
      os::IpAddress::parse(authority->host == "localhost" ? "127.0.0.1" : authority->host);
  if (!host || !is_loopback(*host)) return not_near(text);
  constexpr std::uint16_t kHttpPort = 80;
  return NodeAddress{.path = {}, .host = *host, .port = authority->port.value_or(kHttpPort)};
}

async::Task<os::Fd> connect_to(NodeAddress address) {
  if (!address.path.empty()) {
    CO_TRY(const auto place, os::UnixAddress::at_path(address.path));
    auto socket = os::unix_connect(place, os::SocketType::stream);
    if (!socket) co_return nobody_there(address, socket.error().cause());
    co_return std::move(socket);
  }
  using asio::ip::tcp;
  tcp::socket socket{co_await asio::this_coro::executor};
  const tcp::endpoint place{asio::ip::make_address(address.host.text()), address.port};
  const auto [error] = co_await socket.async_connect(place, async::kQuiet);
  if (error) co_return nobody_there(address, std::error_code{error});
  co_return os::Fd{socket.release()};
}

}  // namespace cordon::cli
