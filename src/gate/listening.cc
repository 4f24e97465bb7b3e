// SPDX-License-Identifier: Apache-2.0
#include "gate/listening.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "os/ip_address.h"
#include "policy/glob.h"
#include "policy/text.h"

namespace cordon::gate {
namespace {

using policy::Section;

bool is_path(std::string_view path) { return policy::is_normal_path(path) && path != "/"; }

// As a browser writes it: scheme, host and perhaps port, in small letters and with nothing behind.
bool is_origin(std::string_view text) {
  const std::size_t slashes = text.find("://");
  if (slashes == std::string_view::npos) return false;
  const std::string_view scheme = text.substr(0, slashes);
  const std::string_view authority = text.substr(slashes + 3);
  return (scheme == "https" || scheme == "http") && !authority.empty() &&
         std::ranges::all_of(authority, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  std::string_view{"-.:[]"}.contains(c);
         });
}

void read_origins(const Section& listen, Listening& into) {
  for (auto& origin : listen.texts("origins").items) {
    if (!is_origin(origin.value)) {
      listen.problem("origins", fmt::format("`origins`: {} is no origin; write \"https://HOST\" or "
                                            "\"https://HOST:PORT\", in small letters",
                                            policy::in_quotes(origin.value)));
    }
    into.origins.push_back(std::move(origin.value));
  }
}

}  // namespace

void take_path(const Section& section, std::string_view name, std::string& into) {
  auto text = section.text(name);
  if (!text) return;
  if (is_path(text->value)) {
    into = std::move(text->value);
    return;
  }
  section.problem(name, fmt::format("`{}`: {} is no absolute path without `.`, `..`, `//` or a "
                                    "slash at the end",
                                    name, policy::in_quotes(text->value)));
}

std::optional<TcpAddress> tcp_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0)
    return std::nullopt;
  const auto address = os::IpAddress::parse(std::string{host});
  if (!address || (host.find(':') != std::string_view::npos) != bracketed) return std::nullopt;
  return TcpAddress{std::string{host}, port};
}

void read_listening(const Section& listen, Listening& into) {
  read_origins(listen, into);
  take_path(listen, "unix", into.unix_socket);
  take_path(listen, "certificate", into.certificate);
  take_path(listen, "key", into.key);
  take_path(listen, "client_authority", into.client_authority);
  if (const auto tcp = listen.text("tcp")) {
    into.tcp = tcp_address(tcp->value);
    if (!into.tcp) {
      listen.problem("tcp",
                     fmt::format("`tcp`: {} is no ADDRESS:PORT; write \"127.0.0.1:7070\", or "
                                 "\"[::1]:7070\"",
                                 policy::in_quotes(tcp->value)));
    }
  }
  if (into.certificate.empty() != into.key.empty()) {
    listen.problem(into.key.empty() ? "certificate" : "key",
                   "`certificate` and `key` go together: name both, or none");
  }
  if (!into.client_authority.empty() && into.certificate.empty()) {
    listen.problem("client_authority",
                   "`client_authority`: clients are asked for a certificate under TLS only; name "
                   "`certificate` and `key`");
  }
  const bool secret = !into.certificate.empty();
  const bool near = into.tcp && (into.tcp->host.starts_with("127.") || into.tcp->host == "::1");
  if (into.tcp && !near && !secret) {
    listen.problem(
        "tcp", fmt::format("`tcp`: {} is reachable from elsewhere, and tokens would go there in "
                           "the clear; name `certificate` and `key`, or listen on 127.0.0.1",
                           policy::in_quotes(into.tcp->host)));
  }
}

}  // namespace cordon::gate
