// SPDX-License-Identifier: Apache-2.0
#include "http/framing.h"

#include <fmt/format.h>

namespace cordon::http {
namespace {

using Kind = Framing::Kind;

bool announces_body(const Announced& announced) noexcept {
  return announced.chunked || announced.length.value_or(0) > 0;
}

Result<Framing> without_body(const ResponseHead& head, Kind kind) {
  if (!announces_body(head.announced)) return Framing{.kind = kind};
  return Error{Errc::invalid,
               fmt::format("an answer of status {} has no body, yet announces one", head.status)};
}

}  // namespace

Framing framing_of(const RequestHead& head) noexcept {
  if (head.announced.chunked) return {.kind = Kind::chunked};
  if (head.announced.length) return {.kind = Kind::length, .length = *head.announced.length};
  return {};
}

Result<Framing> framing_of(const ResponseHead& head, const Asked& asked) {
  if (head.status == 101) {
    if (!asked.upgrade) return Error{Errc::invalid, "an upgrade that was not asked for"};
    return without_body(head, Kind::tunnel);
  }
  if (head.status < 200 || head.status == 204) return without_body(head, Kind::none);
  if (asked.method == "CONNECT" && head.status < 300) return without_body(head, Kind::tunnel);
  if (asked.method == "HEAD" || head.status == 304) {
    if (!head.announced.length) return Framing{};
    return Framing{.kind = Kind::announced, .length = *head.announced.length};
  }
  if (head.announced.chunked) return Framing{.kind = Kind::chunked};
  if (head.announced.length) return Framing{.kind = Kind::length, .length = *head.announced.length};
  return Framing{.kind = Kind::until_close};
}

bool is_interim(const ResponseHead& head) noexcept {
  return head.status < 200 && head.status != 101;
}

}  // namespace cordon::http
