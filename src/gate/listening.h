// SPDX-License-Identifier: Apache-2.0
// Where a server of the API listens and what it shows there, as an operator writes it: the table
// `[listen]` of a node's settings and of a gateway's (pure).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/section.h"

namespace cordon::gate {

struct TcpAddress {
  std::string host;  // an address, never a name
  std::uint16_t port = 0;
  friend bool operator==(const TcpAddress&, const TcpAddress&) = default;
};

struct Listening {
  std::string unix_socket;
  std::optional<TcpAddress> tcp;
  std::string certificate;  // PEM, with `key`: TCP speaks TLS
  std::string key;
  std::string client_authority;      // PEM: clients show a certificate of it
  std::vector<std::string> origins;  // of pages that may open a WebSocket
};

// What is wrong goes to the problems of `listen`. What it does not name stays as it is in `into`.
void read_listening(const policy::Section& listen, Listening& into);

// An absolute path with one spelling, where there is one.
void take_path(const policy::Section& section, std::string_view name, std::string& into);

// "127.0.0.1:7070", "[::1]:7070". Nothing: it is none, or names a host.
std::optional<TcpAddress> tcp_address(std::string_view text);

}  // namespace cordon::gate
