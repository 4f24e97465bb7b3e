// SPDX-License-Identifier: Apache-2.0
#include "api/rest/port_exchange.h"

#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/body.h"
#include "http/chunked.h"
#include "http/connection.h"
#include "http/parse_head.h"
#include "http/upgrade.h"

namespace cordon::api {
namespace {

using FramingKind = http::Framing::Kind;

constexpr std::size_t kPortPiece = std::size_t{64} << 10U;
constexpr http::HeadLimits kHead{.bytes = std::size_t{32} << 10U, .fields = 100};

bool has_body(const http::Framing& framing) {
  return framing.kind == FramingKind::length || framing.kind == FramingKind::chunked;
}

bool is_bare(int status) { return status == 204 || status == 304; }

Error gone() { return Error{Errc::unavailable, "the server inside ended the connection"}; }

}  // namespace

http::RequestHead inner_head(const http::RequestHead& outer, std::string path, std::uint16_t port,
                             Credentials credentials) {
  http::RequestHead inner = outer;
  inner.target = {.path = std::move(path), .query = outer.target.query};
  inner.version = http::Version::http11;
  inner.host = {.host = "localhost", .port = port};
  http::strip_hop_by_hop(inner.fields);
  for (const std::string_view ours :
       {"proxy-authorization", "cordon-tenant", "expect", "e2b-sandbox-id", "e2b-sandbox-port",
        "e2b-traffic-access-token", "x-access-token"}) {
    http::remove_all_spellings(inner.fields, ours);
  }
  if (credentials == Credentials::of_the_inner) return inner;
  for (const std::string_view shown : {"authorization", "x-api-key"}) {
    http::remove_all_spellings(inner.fields, shown);
  }
  return inner;
}

http::Fields outer_fields(http::Fields fields, std::string request) {
  http::strip_hop_by_hop(fields);
  for (const std::string_view ours : {"date", "cordon-request"}) {
    http::remove_all_spellings(fields, ours);
  }
  fields.push_back({"Cordon-Request", std::move(request)});
  return fields;
}

PortExchange::PortExchange(const asio::any_io_executor& executor, http::Exchange& exchange,
                           std::unique_ptr<sandbox::Tunnel> tunnel, std::string request,
                           PortTimes times)
    : exchange_{exchange},
      tunnel_{std::move(tunnel)},
      request_{std::move(request)},
      times_{times},
      look_{executor} {}

async::Task<void> PortExchange::run(http::RequestHead inner) {
  const http::RequestHead& outer = exchange_.head();
  // What asks for another upgrade, or not as it should, is an ordinary request.
  upgrades_ = http::asks_upgrade(outer) && http::check_handshake(outer);
  sent_ = http::framing_of(outer);
  inner_ = std::move(inner);
  CO_TRY(std::string head,
         http::serialise(inner_, sent_, upgrades_ ? http::After::upgrade : http::After::close));
  allow(times_.head);
  auto done = co_await async::in_scope(run_in, this, std::move(head));
  if (!done && is_late_) {
    co_return Error{Errc::timeout, "the server inside did not answer in time"};
  }
  co_return done;
}

async::Task<void> PortExchange::run_in(async::Scope& scope, PortExchange*& self,
                                       std::string& head) {
  const auto pass = [](async::Scope& tasks, PortExchange& it,
                       std::string bytes) -> async::Task<void> {
    tasks.spawn(it.watch());
    CO_TRY_DO(co_await it.give(std::move(bytes)));
    if (has_body(it.sent_)) tasks.spawn(it.pump_body());
    CO_TRY(http::ResponseHead answer, co_await it.read_head());
    CO_TRY(const http::Framing framing,
           http::framing_of(answer, {.method = it.inner_.method, .upgrade = it.upgrades_}));
    it.allow(it.times_.idle);
    if (framing.kind == FramingKind::tunnel) co_return co_await it.relay(tasks, std::move(answer));
    co_return co_await it.pass_body(std::move(answer), framing);
  };
  auto passed = co_await pass(scope, *self, std::move(head));
  scope.cancel();
  co_return passed;
}

// Gives the tunnel up when its time is over: then whoever waits for it gets an error.
asio::awaitable<void> PortExchange::watch() {
  while (Ticks::clock::now() < deadline_) {
    look_.expires_at(deadline_);
    co_await look_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  is_late_ = true;
  tunnel_.reset();
}

async::Task<void> PortExchange::give(std::string bytes) {
  if (!tunnel_) co_return gone();
  co_return co_await tunnel_->write(std::move(bytes));
}

async::Task<void> PortExchange::fill() {
  if (!tunnel_) co_return gone();
  CO_TRY(held_, co_await tunnel_->read_some());
  co_return Status{};
}

// As fast as the sandbox takes it. One that answers before it has read all may do so.
asio::awaitable<void> PortExchange::pump_body() {
  std::vector<char> room(kPortPiece);
  for (;;) {
    const auto count = co_await exchange_.read_some(room);
    if (!count) {
      // The client broke off: what was sent is not whole, and nothing can be made of it.
      tunnel_.reset();
      co_return;
    }
    const std::string_view piece{room.data(), *count};
    std::string bytes;
    if (sent_.kind == FramingKind::length) bytes = piece;
    if (sent_.kind == FramingKind::chunked && !piece.empty()) http::append_chunk(bytes, piece);
    if (sent_.kind == FramingKind::chunked && piece.empty()) bytes = http::kLastChunk;
    if (!co_await give(std::move(bytes)) || piece.empty()) co_return;
    // An answer that has begun has a limit of its own.
    if (!exchange_.is_answered()) allow(times_.head);
  }
}

async::Task<http::ResponseHead> PortExchange::read_head() {
  for (;;) {
    http::ResponseReader reader{kHead};
    for (bool is_done = false; !is_done;) {
      if (held_.empty()) CO_TRY_DO(co_await fill());
      if (held_.empty()) co_return gone();
      auto fed = reader.feed(held_);
      if (!fed) co_return std::move(fed).error().with("the server inside");
      held_.erase(0, fed->consumed);
      is_done = fed->done;
    }
    http::ResponseHead answer = reader.take();
    if (!http::is_interim(answer)) co_return answer;
  }
}

async::Task<void> PortExchange::pass_body(http::ResponseHead answer, http::Framing framing) {
  http::Fields fields = outer_fields(std::move(answer.fields), request_);
  if (is_bare(answer.status)) {
    co_return co_await exchange_.answer(answer.status, std::move(fields), {});
  }
  const bool has_length =
      framing.kind == FramingKind::length || framing.kind == FramingKind::announced;
  std::optional<std::uint64_t> length;
  if (has_length) length = framing.length;
  if (framing.kind == FramingKind::none && inner_.method != "HEAD") length = 0;
  CO_TRY_DO(co_await exchange_.begin(answer.status, std::move(fields), length));
  http::BodyReader body{framing};
  while (!body.done()) {
    if (held_.empty()) CO_TRY_DO(co_await fill());
    if (held_.empty()) {
      CO_TRY_DO(body.finish());
      break;
    }
    std::string_view left = held_;
    while (!left.empty() && !body.done()) {
      CO_TRY(const http::Piece piece, body.next(left));
      if (!piece.data.empty()) CO_TRY_DO(co_await exchange_.write(piece.data));
      left.remove_prefix(piece.consumed);
    }
    held_.clear();
    allow(times_.idle);
  }
  co_return co_await exchange_.finish();
}

async::Task<void> PortExchange::relay(async::Scope& scope, http::ResponseHead answer) {
  CO_TRY_DO(http::check_accepted(inner_, answer));
  answer.fields = outer_fields(std::move(answer.fields), request_);
  CO_TRY(upgraded_, co_await http::Upgraded::accept(exchange_, std::move(answer)));
  scope.spawn(pump_client());
  for (;; held_.clear()) {
    if (held_.empty()) CO_TRY_DO(co_await fill());
    if (held_.empty()) co_return Status{};
    CO_TRY_DO(co_await upgraded_->write(held_));
    allow(times_.idle);
  }
}

asio::awaitable<void> PortExchange::pump_client() {
  for (;;) {
    auto bytes = co_await upgraded_->read_some();
    if (!bytes || bytes->empty()) {
      // The server inside still hears an end, and answers it.
      if (tunnel_) tunnel_->shutdown_write();
      co_return;
    }
    if (!co_await give(*std::move(bytes))) co_return;
    allow(times_.idle);
  }
}

}  // namespace cordon::api
