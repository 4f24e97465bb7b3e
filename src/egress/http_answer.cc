// SPDX-License-Identifier: Apache-2.0
// The half of an exchange that hears the host and tells the client.
#include <utility>

#include <fmt/format.h>

#include "egress/forward_head.h"
#include "egress/http_exchange.h"
#include "egress/http_tunnel.h"
#include "http/connection.h"
#include "http/parse_head.h"
#include "http/serialise.h"
#include "http/upgrade.h"

namespace cordon::egress {

using Next = HttpExchange::Next;
using Kind = http::Framing::Kind;

namespace {

// Of answers before the answer: 100, 102, 103.
constexpr int kMostInterim = 16;

HttpRefusal bad_answer(const Destination& to, std::string_view why) {
  return {
      .status = 502,
      .code = "upstream_failed",
      .text = fmt::format("{}:{} answered what is no proper answer: {}", to.name, to.port, why)};
}

// How the client gets the body: as it came, unless the client's version has no such thing.
http::Framing for_client(http::Framing framing, http::Version version) {
  const bool is_old = version == http::Version::http10;
  if (framing.kind == Kind::until_close && !is_old) return {.kind = Kind::chunked};
  if (framing.kind == Kind::chunked && is_old) return {.kind = Kind::until_close};
  return framing;
}

}  // namespace

bool HttpExchange::keeps_client(Kind kind) const {
  return is_read_ && kind != Kind::until_close && http::keeps_alive(asked_.version, asked_.fields);
}

// More bytes of an answer's head. `nothing`: the connection ended before the first of them.
asio::awaitable<HttpExchange::Heard> HttpExchange::hear_more(bool is_begun) {
  const auto more = co_await upstream_.inbox().fill();
  if (more && *more) co_return Heard::answer;
  if (unsent_ && unsent_->side != BodyFault::Side::sink) {
    refusal_ = unsent_->refusal;
    co_return Heard::refused;
  }
  const bool is_late = upstream_.stream().is_expired();
  refusal_ = {.status = is_late ? 504 : 502,
              .code = "upstream_failed",
              .text = fmt::format("{}:{} gave no answer: {}", to_.name, to_.port,
                                  more ? "it closed the connection" : more.error().text())};
  co_return is_begun || is_late ? Heard::refused : Heard::nothing;
}

asio::awaitable<HttpExchange::Heard> HttpExchange::hear_one(http::ResponseHead& answer) {
  http::ResponseReader reader;
  bool is_begun = false;
  for (;;) {
    if (upstream_.inbox().empty()) {
      if (const Heard heard = co_await hear_more(is_begun); heard != Heard::answer) co_return heard;
    }
    is_begun = true;
    const auto fed = reader.feed(upstream_.inbox().bytes());
    if (!fed) {
      refusal_ = bad_answer(to_, fed.error().text());
      co_return Heard::refused;
    }
    upstream_.inbox().drop(fed->consumed);
    if (!fed->done) continue;
    answer = reader.take();
    co_return Heard::answer;
  }
}

// The answer, after those before it, which are told the client at once.
asio::awaitable<HttpExchange::Heard> HttpExchange::hear(http::ResponseHead& answer) {
  for (int interim = 0; interim <= kMostInterim; ++interim) {
    const Heard heard = co_await hear_one(answer);
    if (heard != Heard::answer) co_return interim == 0 ? heard : Heard::refused;
    if (!http::is_interim(answer)) co_return heard;
    if (asked_.version == http::Version::http10) continue;  // it knows of none
    const auto head = http::serialise(
        returned(std::move(answer), asked_.version, permission_, injected_), {.kind = Kind::none});
    if (!head || (permission_.scan && gate_.scan_head(Direction::in, *head))) continue;
    if (co_await spend(gate_, Direction::in, head->size())) break;
    if (!co_await client_.stream.write(*head)) break;
    use_.bytes_in += head->size();
  }
  refusal_ = bad_answer(to_, "it never came to the answer itself");
  co_return Heard::refused;
}

asio::awaitable<Next> HttpExchange::answer() {
  http::ResponseHead answer;
  Heard heard = co_await hear(answer);
  if (heard == Heard::nothing && may_repeat()) {
    // The host closed a kept connection just as it was used again.
    upstream_.close();
    auto opened = co_await upstream_.open();
    if (!opened) co_return refuse(std::move(opened).error());
    if (auto refusal = co_await send_head()) co_return refuse(*std::move(refusal));
    heard = co_await hear(answer);
  }
  head_.clear();
  if (heard != Heard::answer) co_return refuse(refusal_);
  co_return co_await pass_on(std::move(answer));
}

std::optional<HttpRefusal> HttpExchange::check_answer(const http::ResponseHead& answer,
                                                      std::string_view head) {
  if (!permission_.scan) return std::nullopt;
  if (is_encoded(answer.fields))
    return bad_answer(to_, "it is encoded, though that was not asked for, and cannot be scanned");
  return gate_.scan_head(Direction::in, head);
}

asio::awaitable<Next> HttpExchange::pass_on(http::ResponseHead answer) {
  const auto framing = http::framing_of(answer, {.method = asked_.method, .upgrade = is_upgrade_});
  if (!framing) co_return refuse(bad_answer(to_, framing.error().text()));
  if (framing->kind == Kind::tunnel) co_return co_await open_tunnel(std::move(answer));
  const bool keeps_host =
      http::keeps_alive(answer.version, answer.fields) && framing->kind != Kind::until_close;
  const http::Framing out = for_client(*framing, asked_.version);
  const bool keeps = keeps_client(out.kind);
  use_.status = answer.status;
  auto head = http::serialise(returned(answer, asked_.version, permission_, injected_), out,
                              keeps ? http::After::keep : http::After::close);
  if (!head) co_return refuse(bad_answer(to_, head.error().text()));
  if (auto refusal = check_answer(answer, *head)) co_return refuse(*std::move(refusal));

  BodyMover mover{upstream_.inbox(), client_.stream, gate_, Direction::in};
  auto scanner = permission_.scan ? gate_.body_scanner(Direction::in) : nullptr;
  auto fault = co_await mover.move(*framing, out, *std::move(head), std::move(scanner));
  use_.bytes_in += mover.moved();
  if (fault) {
    upstream_.stream().close();
    if (unsent_ && unsent_->side != BodyFault::Side::sink) fault->refusal = unsent_->refusal;
    if (mover.moved() == 0 && fault->side != BodyFault::Side::sink)
      co_return refuse(std::move(fault->refusal));
    refusal_ = std::move(fault->refusal);
    co_return Next::abort;
  }
  if (!keeps_host || !is_sent_) upstream_.stream().close();
  co_return keeps ? Next::keep : Next::close;
}

asio::awaitable<Next> HttpExchange::open_tunnel(http::ResponseHead answer) {
  if (const auto accepted = http::check_accepted(asked_, answer); !accepted)
    co_return refuse(bad_answer(to_, accepted.error().text()));
  const auto head =
      http::serialise(returned(std::move(answer), asked_.version, permission_, injected_),
                      {.kind = Kind::tunnel}, http::After::upgrade);
  if (!head) co_return refuse(bad_answer(to_, head.error().text()));
  if (permission_.scan) {
    if (auto refusal = gate_.scan_head(Direction::in, *head)) co_return refuse(*std::move(refusal));
  }
  use_.status = 101;
  use_.websocket = true;
  if (!co_await client_.stream.write(*head)) co_return Next::abort;
  const TunnelUse used =
      co_await tunnel({.inbox = client_.inbox, .stream = client_.stream},
                      {.inbox = upstream_.inbox(), .stream = upstream_.stream()}, gate_);
  use_.bytes_out += used.out;
  use_.bytes_in += used.in;
  upstream_.stream().close();
  co_return Next::close;
}

}  // namespace cordon::egress
