// SPDX-License-Identifier: Apache-2.0
#include "egress/client_hello.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/host.h"
#include "policy/text.h"

namespace cordon::egress {
namespace {

using Bytes = std::span<const std::byte>;
using RefusedHello = std::unexpected<HelloRefusal>;

constexpr std::uint16_t kServerName = 0;
constexpr std::uint16_t kProtocols = 16;
constexpr std::uint16_t kPreSharedKey = 41;
constexpr std::uint16_t kSupportedVersions = 43;
constexpr std::uint16_t kOldestTls = 0x0301;
constexpr std::uint16_t kTls12 = 0x0303;  // later versions stand in an extension

RefusedHello refuse(HelloFault fault, std::string why) {
  return RefusedHello{HelloRefusal{fault, std::move(why)}};
}
RefusedHello malformed(std::string why) { return refuse(HelloFault::malformed, std::move(why)); }

// Reads numbers and vectors as TLS writes them. What is not there reads as 0 or empty, and makes
// the reader fail for good: ask once, at the end.
class TlsReader {
 public:
  explicit TlsReader(Bytes bytes) : rest_{bytes} {}

  Bytes take(std::size_t size) {
    failed_ = failed_ || rest_.size() < size;
    if (failed_) return {};
    const Bytes taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  std::uint16_t number(std::size_t size) {
    unsigned value = 0;
    for (const std::byte byte : take(size)) value = value << 8U | std::to_integer<unsigned>(byte);
    return static_cast<std::uint16_t>(value);
  }
  // A length of `size` bytes, then as many bytes.
  Bytes vector(std::size_t size) { return take(number(size)); }

  bool empty() const { return rest_.empty(); }
  bool failed() const { return failed_; }
  // All was there, and no more.
  bool finished() const { return !failed_ && rest_.empty(); }

 private:
  Bytes rest_;
  bool failed_ = false;
};

std::string text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Encrypted ClientHello in the standard and its drafts, the list that only a hello inside another
// may have, and the encrypted server name before them.
bool hides_a_name(std::uint16_t extension) {
  return (extension >= 0xFE08 && extension <= 0xFE0D) || extension == 0xFD00 || extension == 0xFFCE;
}

using Checked = std::optional<RefusedHello>;

Checked read_server_name(Bytes data, ClientHello& hello) {
  TlsReader reader{data};
  TlsReader list{reader.vector(2)};
  const std::uint16_t kind = list.number(1);
  std::string name = text(list.vector(2));
  if (!reader.finished() || list.failed()) return malformed("a server name of another length");
  if (!list.empty()) return refuse(HelloFault::bad_name, "more than one server name");
  if (kind != 0) return refuse(HelloFault::bad_name, "a server name that is no host's");
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  // An address in any spelling is no canonical name.
  if (!policy::is_canonical_name(name))
    return refuse(HelloFault::bad_name, policy::in_quotes(name) + " is no host name");
  hello.server_name = std::move(name);
  return std::nullopt;
}

Checked read_protocols(Bytes data, ClientHello& hello) {
  TlsReader reader{data};
  TlsReader list{reader.vector(2)};
  while (!list.empty() && !list.failed()) {
    hello.protocols.push_back(text(list.vector(1)));
    if (hello.protocols.back().empty()) return malformed("an empty protocol name");
  }
  if (!reader.finished() || !list.finished() || hello.protocols.empty())
    return malformed("a list of protocols of another length");
  return std::nullopt;
}

Checked read_versions(Bytes data, ClientHello& hello) {
  TlsReader reader{data};
  TlsReader list{reader.vector(1)};
  hello.versions.clear();
  while (!list.empty() && !list.failed()) hello.versions.push_back(list.number(2));
  if (!reader.finished() || !list.finished() || hello.versions.empty())
    return malformed("a list of versions of another length");
  return std::nullopt;
}

Checked read_extension(std::uint16_t type, Bytes data, ClientHello& hello) {
  if (type == kServerName) return read_server_name(data, hello);
  if (type == kProtocols) return read_protocols(data, hello);
  if (type == kSupportedVersions) return read_versions(data, hello);
  hello.encrypted = hello.encrypted || hides_a_name(type);
  return std::nullopt;
}

Checked read_extensions(Bytes block, ClientHello& hello) {
  TlsReader reader{block};
  std::vector<std::uint16_t> types;
  while (!reader.empty() && !reader.failed()) {
    types.push_back(reader.number(2));
    const Bytes data = reader.vector(2);
    if (reader.failed()) break;
    if (auto refused = read_extension(types.back(), data, hello)) return refused;
  }
  if (!reader.finished()) return malformed("extensions of another length");
  const bool key_before_the_end =
      !types.empty() && std::find(types.begin(), types.end() - 1, kPreSharedKey) != types.end() - 1;
  if (key_before_the_end) return malformed("an extension after the pre-shared key");
  std::ranges::sort(types);
  if (std::ranges::adjacent_find(types) != types.end()) return malformed("an extension twice");
  return std::nullopt;
}

}  // namespace

std::string_view code_of(HelloFault fault) noexcept {
  return fault == HelloFault::other_name ? "misdirected" : "opaque_tunnel";
}

std::expected<ClientHello, HelloRefusal> parse_client_hello(Bytes body) {
  TlsReader reader{body};
  const std::uint16_t version = reader.number(2);
  reader.take(32);  // random
  const Bytes session = reader.vector(1);
  const Bytes suites = reader.vector(2);
  const Bytes compressions = reader.vector(1);
  if (reader.failed()) return malformed("a hello that ends too early");
  if (version < kOldestTls || version > kTls12)
    return malformed(fmt::format("version {:#06x}", version));
  if (session.size() > 32) return malformed("a session id of more than 32 bytes");
  if (suites.empty() || suites.size() % 2 != 0) return malformed("an odd list of cipher suites");
  if (std::ranges::find(compressions, std::byte{0}) == compressions.end())
    return malformed("no hello without compression");

  ClientHello hello{.versions = {version}};
  if (reader.empty()) return hello;  // before TLS 1.3 extensions may be absent
  const Bytes extensions = reader.vector(2);
  if (!reader.finished()) return malformed("extensions of another length");
  if (auto refused = read_extensions(extensions, hello)) return *std::move(refused);
  return hello;
}

std::optional<HelloRefusal> judge_hello(const ClientHello& hello, std::string_view name) {
  if (!hello.server_name) {
    return HelloRefusal{HelloFault::no_name,
                        fmt::format("the connection is for {}, and TLS says no name", name)};
  }
  if (*hello.server_name != name) {
    return HelloRefusal{
        HelloFault::other_name,
        fmt::format("the connection is for {}, and TLS says {}", name, *hello.server_name)};
  }
  // Whoever serves many names decrypts the hello inside without regard to the one outside, so an
  // allowed name outside may lead to any other behind the same front. A client that only pretends
  // (GREASE) cannot be told from one that does not.
  if (hello.encrypted) {
    return HelloRefusal{HelloFault::encrypted_name,
                        fmt::format("the connection is for {}, and TLS hides the name that counts "
                                    "(ECH)",
                                    name)};
  }
  return std::nullopt;
}

}  // namespace cordon::egress
