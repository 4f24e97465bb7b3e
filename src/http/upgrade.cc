// SPDX-License-Identifier: Apache-2.0
#include "http/upgrade.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "http/characters.h"
#include "http/connection.h"

namespace cordon::http {
namespace {

Error bad(std::string_view why) { return {Errc::invalid, std::string{"WebSocket: "}.append(why)}; }

bool is_base64_character(char c) noexcept {
  return is_letter(c) || is_digit(c) || c == '+' || c == '/';
}

// Base64 of 16 bytes: the last of 22 characters holds 2 bits, the others of it are zero.
bool is_key(std::string_view text) noexcept {
  return text.size() == 24 && text.ends_with("==") &&
         std::ranges::all_of(text.substr(0, 22), is_base64_character) &&
         std::string_view{"AQgw"}.find(text[21]) != std::string_view::npos;
}

// Base64 of 20 bytes: the last of 27 characters holds 4 bits.
bool is_digest(std::string_view text) noexcept {
  return text.size() == 28 && text.ends_with('=') &&
         std::ranges::all_of(text.substr(0, 27), is_base64_character) &&
         std::string_view{"AEIMQUYcgkosw048"}.find(text[26]) != std::string_view::npos;
}

bool is_to_websocket(const Fields& fields) noexcept {
  const auto upgrade = only(fields, "upgrade");
  return upgrade && same_name(*upgrade, "websocket") && has_option(fields, "upgrade");
}

bool has_body(const Announced& announced) noexcept {
  return announced.chunked || announced.length.value_or(0) > 0;
}

bool offers(const Fields& fields, std::string_view protocol) noexcept {
  return std::ranges::any_of(fields, [&](const Field& field) {
    if (!same_name(field.name, "sec-websocket-protocol")) return false;
    std::string_view list = field.value;
    while (!list.empty()) {
      const auto comma = std::min(list.find(','), list.size());
      if (trimmed(list.substr(0, comma)) == protocol) return true;
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
  });
}

}  // namespace

bool asks_upgrade(const RequestHead& head) noexcept {
  return count(head.fields, "upgrade") > 0 || has_option(head.fields, "upgrade");
}

Status check_handshake(const RequestHead& head) {
  if (head.method != "GET") return bad("the method is GET");
  if (head.version != Version::http11) return bad("the version is HTTP/1.1");
  if (head.target.kind != TargetKind::origin && head.target.kind != TargetKind::absolute)
    return bad("the target is a path");
  if (has_body(head.announced)) return bad("a handshake has no body");
  if (!is_to_websocket(head.fields)) return bad("Upgrade is `websocket`, and Connection names it");
  if (only(head.fields, "sec-websocket-version").value_or("") != "13")
    return bad("the version of the protocol is 13");
  if (!is_key(only(head.fields, "sec-websocket-key").value_or("")))
    return bad("the key is 16 bytes in base64");
  return {};
}

Status check_accepted(const RequestHead& asked, const ResponseHead& answer) {
  if (answer.status != 101) return bad("the answer is no 101");
  if (answer.version != Version::http11) return bad("the version is HTTP/1.1");
  if (has_body(answer.announced)) return bad("a 101 has no body");
  if (!is_to_websocket(answer.fields))
    return bad("Upgrade is `websocket`, and Connection names it");
  if (!is_digest(only(answer.fields, "sec-websocket-accept").value_or("")))
    return bad("the accepted key is 20 bytes in base64");
  if (const auto protocols = count(answer.fields, "sec-websocket-protocol"); protocols > 0) {
    const auto protocol = only(answer.fields, "sec-websocket-protocol");
    if (!protocol || !is_token(*protocol) || !offers(asked.fields, *protocol))
      return bad("a subprotocol that was not offered");
  }
  if (count(answer.fields, "sec-websocket-extensions") > 0 &&
      count(asked.fields, "sec-websocket-extensions") == 0)
    return bad("extensions that were not offered");
  return {};
}

}  // namespace cordon::http
