// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/http_door.h"

#include <charconv>
#include <ostream>

#include "base/bytes.h"
#include "cli/text_file.h"
#include "http/authority.h"
#include "os/ip_address.h"
#include "os/listen_at_path.h"
#include "os/random.h"
#include "os/tcp_listen.h"
#include "token/mac.h"

namespace cordon::cli {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kBearer = "Bearer ";
constexpr std::size_t kShortestToken = 32;

bool is_own_name(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == "[::1]";
}

bool is_own_origin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const auto authority = http::parse_authority(origin.substr(scheme.size()));
    return authority && is_own_name(authority->host);
  }
  return false;
}

Result<os::Fd> listen_tcp(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  std::uint16_t port = 0;
  const char* const end = address.data() + address.size();
  const auto [stopped, error] = colon == std::string::npos
                                    ? std::from_chars_result{end, std::errc::invalid_argument}
                                    : std::from_chars(address.data() + colon + 1, end, port);
  if (error != std::errc{} || stopped != end || port == 0) {
    return Error{Errc::invalid, "expected like 127.0.0.1:7777 or unix:PATH"};
  }
  if (!is_own_name(host)) {
    return Error{Errc::denied, "only addresses of this machine: 127.0.0.1, [::1] or localhost"};
  }
  const bool is_v6 = host == "::1" || host == "[::1]";
  TRY(const os::IpAddress ip, os::IpAddress::parse(is_v6 ? "::1" : "127.0.0.1"));
  return os::tcp_listen(ip, port);
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

Result<std::string> token_of(const ServeOptions& options, const Context& context) {
  if (!options.token_file.empty()) {
    TRY(std::string text, read_text_file(options.token_file));
    text = trimmed(std::move(text));
    if (text.size() < kShortestToken) {
      return Error{Errc::invalid, options.token_file + ": a token has 32 characters at least"};
    }
    return text;
  }
  TRY(const auto random, os::random_bytes<32>());
  std::string text = to_hex(random);
  context.err << "cordon: the token of this server: " << text << '\n' << std::flush;
  return text;
}

}  // namespace

Result<HttpDoor> open_door(const ServeOptions& options, const Context& context) {
  HttpDoor door;
  TRY(const std::string token, token_of(options, context));
  door.token = sha256({as_bytes(token)});
  if (options.http.starts_with(kUnix)) {
    door.own_path = options.http.substr(kUnix.size());
    TRY(door.socket, os::listen_at_path(door.own_path));
  } else {
    TRY(door.socket, listen_tcp(options.http));
  }
  context.err << "cordon: serving MCP at " << options.http << ", path /mcp\n" << std::flush;
  return door;
}

int refusal_of(const http::RequestHead& head, const Digest& token) {
  if (!is_own_name(head.host.host)) return 403;
  if (http::count(head.fields, "Origin") > 0) {
    const auto origin = http::only(head.fields, "Origin");
    if (!origin || !is_own_origin(*origin)) return 403;
  }
  const auto shown = http::only(head.fields, "Authorization");
  if (!shown || !shown->starts_with(kBearer)) return 401;
  const Digest hash = sha256({as_bytes(shown->substr(kBearer.size()))});
  return token::same_bytes(hash, token) ? 0 : 401;
}

}  // namespace cordon::cli
