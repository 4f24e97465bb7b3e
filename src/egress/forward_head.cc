// SPDX-License-Identifier: Apache-2.0
#include "egress/forward_head.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "http/characters.h"
#include "http/connection.h"
#include "http/field.h"
#include "http/target.h"

namespace cordon::egress {
namespace {

constexpr std::array<std::string_view, 4> kCredentials{"authorization", "cookie",
                                                       "proxy-authorization", "x-api-key"};
constexpr std::array<std::string_view, 5> kSetByAnswers{
    "set-cookie", "set-cookie2", "authentication-info", "authorization", "x-api-key"};
// A scanner sees one answer: of a secret in two halves it would see neither.
constexpr std::array<std::string_view, 3> kDividing{"accept-encoding", "range", "if-range"};

std::uint16_t usual_port(bool tls) noexcept { return tls ? 443 : 80; }

template <class Names>
void remove_all(http::Fields& fields, const Names& names) {
  for (const auto& name : names) http::remove_all_spellings(fields, name);
}

bool is_addable(const http::Field& field) {
  http::Fields alone{{.name = field.name, .value = ""}};
  http::strip_hop_by_hop(alone);
  return http::is_token(field.name) && !alone.empty() && !http::is_framing_name(field.name) &&
         !http::reads_as(field.name, "host") && !http::reads_as(field.name, "expect") &&
         !field.value.empty() && http::trimmed(field.value).size() == field.value.size() &&
         std::ranges::all_of(field.value, std::cref(http::is_ascii_value));
}

}  // namespace

std::optional<HttpRefusal> check_destination(const http::RequestHead& head, const Destination& to) {
  const bool same_scheme = head.target.kind != http::TargetKind::absolute ||
                           (head.target.scheme == http::Scheme::https) == to.tls;
  if (head.host.host == to.name && head.host.port.value_or(usual_port(to.tls)) == to.port &&
      same_scheme)
    return std::nullopt;
  return HttpRefusal{.status = 421,
                     .code = "misdirected",
                     .text = fmt::format("this connection is for {}:{}, and the request names "
                                         "another host, port or scheme. Nothing was sent.",
                                         to.name, to.port)};
}

http::RequestHead forwarded(http::RequestHead head, const Destination& to,
                            const HttpPermission& permission,
                            const std::vector<std::string>& injected) {
  head = http::in_origin_form(std::move(head));
  http::strip_hop_by_hop(head.fields);
  if (head.version == http::Version::http10) http::remove_all_spellings(head.fields, "expect");
  head.version = http::Version::http11;
  head.host = {.host = to.name, .port = std::nullopt};
  if (to.port != usual_port(to.tls)) head.host.port = to.port;
  if (permission.inject) {
    remove_all(head.fields, kCredentials);
    remove_all(head.fields, injected);
  }
  if (permission.inject || permission.scan) remove_all(head.fields, kDividing);
  return head;
}

Result<SecretText> with_fields(std::string_view head, std::span<const http::Field> fields) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  if (!head.ends_with(kEnd)) return Error{Errc::internal, "a head without an end"};
  std::size_t size = head.size();
  for (const http::Field& field : fields) {
    if (!is_addable(field))
      return Error{Errc::invalid, "a field that cannot be added to a request"};
    size += field.name.size() + field.value.size() + 4;
  }
  std::string out;
  out.reserve(size);
  out.append(head.substr(0, head.size() - 2));
  for (const http::Field& field : fields)
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  return SecretText{std::move(out.append("\r\n"))};
}

http::ResponseHead returned(http::ResponseHead head, http::Version client,
                            const HttpPermission& permission,
                            const std::vector<std::string>& injected) {
  http::strip_hop_by_hop(head.fields);
  http::remove_all_spellings(head.fields, "x-cordon-denied");
  head.version = client;
  if (permission.inject) {
    remove_all(head.fields, kSetByAnswers);
    remove_all(head.fields, injected);
  }
  return head;
}

bool is_encoded(const http::Fields& fields) noexcept {
  return std::ranges::any_of(fields, [](const http::Field& field) {
    return http::same_name(field.name, "content-encoding") &&
           !http::same_name(field.value, "identity") && !field.value.empty();
  });
}

}  // namespace cordon::egress
