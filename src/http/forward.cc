// SPDX-License-Identifier: Apache-2.0
#include "http/forward.h"

#include <cstring>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/body.h"
#include "http/chunked.h"
#include "http/connection.h"
#include "http/parse_head.h"
#include "http/upgrade.h"

namespace cordon::http {
namespace {

using FramingKind = Framing::Kind;

constexpr std::size_t kForwardPiece = std::size_t{64} << 10U;
// Of an answer that is kept: a refusal in words.
constexpr std::size_t kMostWithheld = std::size_t{64} << 10U;

bool has_body(const Framing& framing) {
  return framing.kind == FramingKind::length || framing.kind == FramingKind::chunked;
}

struct Unwrapped {
  std::string_view data;  // of the body, up to its end or the failure
  std::string_view rest;  // behind its end
  Status failure;
};

// What `bytes` have of the body, moved together: in one go it costs whoever gets it once what each
// chunk would.
Unwrapped unwrap(BodyReader& body, std::string& bytes) {
  Unwrapped got{.data = {}, .rest = bytes, .failure = {}};
  while (!got.rest.empty() && !body.done()) {
    const auto piece = body.next(got.rest);
    if (!piece) {
      got.failure = piece.error();
      break;
    }
    got.rest.remove_prefix(piece->consumed);
    if (piece->data.empty()) continue;
    if (got.data.empty()) {
      got.data = piece->data;
      continue;
    }
    // Never over what is to be read yet: the framing stood between.
    const std::size_t end =
        static_cast<std::size_t>(got.data.data() - bytes.data()) + got.data.size();
    std::memmove(bytes.data() + end, piece->data.data(), piece->data.size());
    got.data = std::string_view{got.data.data(), got.data.size() + piece->data.size()};
  }
  return got;
}

bool is_bodiless(int status) { return status == 204 || status == 304; }

}  // namespace

Forward::Forward(const asio::any_io_executor& executor, Exchange& exchange,
                 std::unique_ptr<FarEnd> far, Rules rules)
    : exchange_{exchange}, far_{std::move(far)}, rules_{std::move(rules)}, look_{executor} {}

Error Forward::gone() const {
  return Error{Errc::unavailable, rules_.whom + " ended the connection"};
}

async::Task<void> Forward::run(RequestHead inner, std::optional<std::string> body) {
  const RequestHead& outer = exchange_.head();
  // What asks for another upgrade, or not as it should, is an ordinary request.
  upgrades_ = asks_upgrade(outer) && check_handshake(outer);
  body_ = std::move(body);
  sent_ = framing_of(outer);
  if (body_ && !body_->empty()) sent_ = {.kind = FramingKind::length, .length = body_->size()};
  if (body_ && body_->empty()) sent_ = {};
  inner_ = std::move(inner);
  CO_TRY(std::string head, serialise(inner_, sent_, upgrades_ ? After::upgrade : rules_.after));
  allow(rules_.times.head);
  auto done = co_await async::in_scope(run_in, this, std::move(head));
  if (!done && is_late_) {
    co_return Error{Errc::timeout, rules_.whom + " did not answer in time"};
  }
  co_return done;
}

async::Task<void> Forward::run_in(async::Scope& scope, Forward*& self, std::string& head) {
  auto passed = co_await self->converse(scope, std::move(head));
  scope.cancel();
  co_return passed;
}

async::Task<void> Forward::converse(async::Scope& scope, std::string bytes) {
  scope.spawn(watch());
  if (body_) {
    bytes += *body_;
    body_->clear();
  }
  const bool has_more = has_body(sent_) && !body_;
  CO_TRY_DO(co_await give(std::move(bytes)));
  if (has_more) {
    scope.spawn(pump_body());
  } else {
    is_sent_ = true;
  }
  CO_TRY(ResponseHead answer, co_await read_head());
  CO_TRY(const Framing framing,
         framing_of(answer, {.method = inner_.method, .upgrade = upgrades_}));
  allow(rules_.times.idle);
  if (framing.kind == FramingKind::tunnel) co_return co_await relay(scope, std::move(answer));
  is_kept_ = keeps_alive(answer.version, answer.fields);
  if (rules_.withholds && rules_.withholds(answer)) {
    co_return co_await withhold(std::move(answer), framing);
  }
  co_return co_await pass_body(std::move(answer), framing);
}

std::unique_ptr<FarEnd> Forward::take_back() {
  if (!is_whole_ || !is_sent_ || !is_kept_ || !held_.empty()) return nullptr;
  return std::move(far_);
}

// Gives the connection up when its time is over: then whoever waits for it gets an error.
asio::awaitable<void> Forward::watch() {
  while (Ticks::clock::now() < deadline_) {
    look_.expires_at(deadline_);
    co_await look_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  is_late_ = true;
  far_.reset();
}

async::Task<void> Forward::give(std::string bytes) {
  if (!far_) co_return gone();
  co_return co_await far_->write(std::move(bytes));
}

async::Task<void> Forward::fill() {
  if (!far_) co_return gone();
  CO_TRY(held_, co_await far_->read_some());
  was_answered_ = was_answered_ || !held_.empty();
  co_return Status{};
}

// As fast as the server takes it. One that answers before it has read all may do so.
asio::awaitable<void> Forward::pump_body() {
  std::vector<char> room(kForwardPiece);
  for (;;) {
    const auto count = co_await exchange_.read_some(room);
    if (!count) {
      // The client broke off: what was sent is not whole, and nothing can be made of it.
      far_.reset();
      co_return;
    }
    const std::string_view piece{room.data(), *count};
    std::string bytes;
    if (sent_.kind == FramingKind::length) bytes = piece;
    if (sent_.kind == FramingKind::chunked && !piece.empty()) append_chunk(bytes, piece);
    if (sent_.kind == FramingKind::chunked && piece.empty()) bytes = kLastChunk;
    if (!co_await give(std::move(bytes))) co_return;
    if (piece.empty()) {
      is_sent_ = true;
      co_return;
    }
    // An answer that has begun has a limit of its own.
    if (!exchange_.is_answered()) allow(rules_.times.head);
  }
}

async::Task<ResponseHead> Forward::read_head() {
  for (int interim = 0; interim <= kMostInterim; ++interim) {
    ResponseReader reader{rules_.answer};
    for (bool is_done = false; !is_done;) {
      if (held_.empty()) CO_TRY_DO(co_await fill());
      if (held_.empty()) co_return gone();
      auto fed = reader.feed(held_);
      if (!fed) co_return std::move(fed).error().with(rules_.whom);
      held_.erase(0, fed->consumed);
      is_done = fed->done;
    }
    ResponseHead answer = reader.take();
    if (!is_interim(answer)) co_return answer;
  }
  co_return Error{Errc::invalid, rules_.whom + ": it answers without coming to an answer"};
}

async::Task<void> Forward::read_body(Framing framing, Take take) {
  BodyReader body{framing};
  while (!body.done()) {
    if (held_.empty()) CO_TRY_DO(co_await fill());
    if (held_.empty()) {
      CO_TRY_DO(body.finish());
      is_kept_ = false;
      break;
    }
    std::string bytes = std::exchange(held_, {});
    const Unwrapped got = unwrap(body, bytes);
    if (!got.data.empty()) CO_TRY_DO(co_await take(got.data));
    CO_TRY_DO(got.failure);
    held_.assign(got.rest);
    allow(rules_.times.idle);
  }
  is_whole_ = true;
  co_return Status{};
}

async::Task<void> Forward::withhold(ResponseHead answer, Framing framing) {
  withheld_.emplace(Withheld{std::move(answer), {}});
  co_return co_await read_body(framing, [this](std::string_view piece) {
    return [](Withheld& kept, std::string_view bytes) -> async::Task<void> {
      if (bytes.size() > kMostWithheld - kept.body.size()) {
        co_return Error{Errc::exhausted, "a refusal is longer than anybody writes one"};
      }
      kept.body += bytes;
      co_return Status{};
    }(*withheld_, piece);
  });
}

async::Task<void> Forward::pass_body(ResponseHead answer, Framing framing) {
  Fields fields = rules_.outer_fields(std::move(answer.fields));
  if (is_bodiless(answer.status)) {
    is_whole_ = true;
    co_return co_await exchange_.answer(answer.status, std::move(fields), {});
  }
  const bool has_length =
      framing.kind == FramingKind::length || framing.kind == FramingKind::announced;
  std::optional<std::uint64_t> length;
  if (has_length) length = framing.length;
  if (framing.kind == FramingKind::none && inner_.method != "HEAD") length = 0;
  CO_TRY_DO(co_await exchange_.begin(answer.status, std::move(fields), length));
  CO_TRY_DO(co_await read_body(framing,
                               [this](std::string_view piece) { return exchange_.write(piece); }));
  co_return co_await exchange_.finish();
}

async::Task<void> Forward::relay(async::Scope& scope, ResponseHead answer) {
  CO_TRY_DO(check_accepted(inner_, answer));
  answer.fields = rules_.outer_fields(std::move(answer.fields));
  CO_TRY(upgraded_, co_await Upgraded::accept(exchange_, std::move(answer)));
  scope.spawn(pump_client());
  for (;; held_.clear()) {
    if (held_.empty()) CO_TRY_DO(co_await fill());
    if (held_.empty()) co_return Status{};
    CO_TRY_DO(co_await upgraded_->write(held_));
    allow(rules_.times.idle);
  }
}

asio::awaitable<void> Forward::pump_client() {
  for (;;) {
    auto bytes = co_await upgraded_->read_some();
    if (!bytes || bytes->empty()) {
      // The server still hears an end, and answers it.
      if (far_) far_->shutdown_write();
      co_return;
    }
    if (!co_await give(*std::move(bytes))) co_return;
    allow(rules_.times.idle);
  }
}

}  // namespace cordon::http
