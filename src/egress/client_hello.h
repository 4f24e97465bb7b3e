// SPDX-License-Identifier: Apache-2.0
// What the first message of a TLS client says in clear, and whether it is meant for the name that
// was allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::egress {

struct ClientHello {
  std::optional<std::string> server_name;  // in the one spelling of policy/host.h
  std::vector<std::string> protocols;      // ALPN, in the order of the client; bytes of any kind
  std::vector<std::uint16_t> versions;     // offered: 0x0303 is TLS 1.2
  bool encrypted = false;                  // carries, or seems to carry, another hello (ECH, ESNI)

  friend bool operator==(const ClientHello&, const ClientHello&) = default;
};

enum class HelloFault : std::uint8_t {
  not_tls,    // other bytes, or a hello of SSL 2
  too_long,   // more than HelloPeeker keeps
  malformed,  // TLS, and not as the standard has it
  bad_name,   // a server name in another spelling, two of them, or an address
  no_name,
  other_name,      // not the name that the connection is for
  encrypted_name,  // the name that counts cannot be seen
};
// The stable word for a log or a header: "misdirected" or "opaque_tunnel".
std::string_view code_of(HelloFault fault) noexcept;

struct HelloRefusal {
  HelloFault fault = HelloFault::malformed;
  std::string why;  // in words, to follow "refused: "

  friend bool operator==(const HelloRefusal&, const HelloRefusal&) = default;
};

// The body of one handshake message of type client_hello, without its type and length. Strict: all
// lengths exact, no extension twice, at most one server name.
std::expected<ClientHello, HelloRefusal> parse_client_hello(std::span<const std::byte> body);

// Nothing: bytes of this client may be passed on to `name`, which is canonical.
std::optional<HelloRefusal> judge_hello(const ClientHello& hello, std::string_view name);

}  // namespace cordon::egress
