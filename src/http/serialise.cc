// SPDX-License-Identifier: Apache-2.0
#include "http/serialise.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "http/connection.h"
#include "http/parse_head.h"
#include "http/reason.h"

namespace cordon::http {
namespace {

using Kind = Framing::Kind;

Error not_sent(std::string_view why) { return {Errc::invalid, fmt::format("not sent: {}", why)}; }

std::string_view text_of(Version version) noexcept {
  return version == Version::http11 ? "HTTP/1.1" : "HTTP/1.0";
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

Announced announced_by(const Framing& framing) noexcept {
  Announced announced{.length = {}, .chunked = framing.kind == Kind::chunked};
  if (framing.kind == Kind::length || framing.kind == Kind::announced)
    announced.length = framing.length;
  return announced;
}

void say_after(Fields& fields, After after, Version version) {
  if (after == After::close) fields.push_back({.name = "Connection", .value = "close"});
  if (after == After::keep && version == Version::http10)
    fields.push_back({.name = "Connection", .value = "keep-alive"});
  if (after != After::upgrade) return;
  fields.push_back({.name = "Connection", .value = "Upgrade"});
  fields.push_back({.name = "Upgrade", .value = "websocket"});
}

// The head as the other side is to read it.
template <class Head>
Head meant_by(Head head, const Framing& framing, After after) {
  strip_hop_by_hop(head.fields);
  say_after(head.fields, after, head.version);
  head.announced = announced_by(framing);
  return head;
}

void append_rest(std::string& out, const Fields& fields, const Announced& announced) {
  out.reserve(1024);  // most heads
  for (const Field& field : fields) append_field(out, field.name, field.value);
  if (announced.chunked) append_field(out, "Transfer-Encoding", "chunked");
  if (announced.length) append_field(out, "Content-Length", fmt::format("{}", *announced.length));
  out.append("\r\n");
}

template <class Reader, class Head>
Result<std::string> read_again(Reader reader, const Head& meant, std::string text) {
  const auto fed = reader.feed(text);
  if (!fed) return not_sent(fed.error().text());
  if (!fed->done || fed->consumed != text.size() || reader.take() != meant)
    return not_sent("the head would be read as another one");
  return text;
}

Status check_body(const ResponseHead& head, const Framing& framing, After after) {
  const bool has_body = framing.kind == Kind::length || framing.kind == Kind::chunked ||
                        framing.kind == Kind::until_close;
  const bool bare = head.status < 200 || head.status == 204;
  if ((has_body && (bare || head.status == 304)) || (framing.kind == Kind::announced && bare))
    return not_sent(fmt::format("an answer of status {} has no body", head.status));
  const bool upgrade = after == After::upgrade;
  if (upgrade != (head.status == 101) || (upgrade && framing.kind != Kind::tunnel))
    return not_sent("an upgrade is answered by 101, and nothing else is");
  return {};
}

}  // namespace

Result<std::string> serialise(const RequestHead& head, const Framing& framing, After after) {
  const bool framed =
      framing.kind == Kind::none || framing.kind == Kind::length || framing.kind == Kind::chunked;
  if (!framed) return not_sent("the framing is not one that a request has");
  const RequestHead meant = meant_by(head, framing, after);
  std::string out =
      fmt::format("{} {} {}\r\n", meant.method, to_string(meant.target), text_of(meant.version));
  append_field(out, "Host", to_string(meant.host));
  append_rest(out, meant.fields, meant.announced);
  return read_again(RequestReader{{.limits = kWritten, .connect = true}}, meant, std::move(out));
}

Result<std::string> serialise(const ResponseHead& head, const Framing& framing, After after) {
  if (framing.kind == Kind::until_close) after = After::close;
  TRY_DO(check_body(head, framing, after));
  const ResponseHead meant = meant_by(head, framing, after);
  std::string out =
      fmt::format("{} {} {}\r\n", text_of(meant.version), meant.status, usual_reason(meant.status));
  append_rest(out, meant.fields, meant.announced);
  return read_again(ResponseReader{kWritten}, meant, std::move(out));
}

}  // namespace cordon::http
