// SPDX-License-Identifier: Apache-2.0
#include "http/client.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <openssl/evp.h>
#include <utility>

#include <boost/asio/this_coro.hpp>

#include "http/chunked.h"
#include "http/serialise.h"
#include "http/target.h"
#include "http/upgrade.h"
#include "http/websocket_key.h"
#include "os/random.h"

namespace cordon::http {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = Framing::Kind;

constexpr std::size_t kAnswerRoom = std::size_t{64} << 10U;

Stream::Socket socket_of(const asio::any_io_executor& executor, os::Fd fd) {
  Stream::Socket socket{executor};
  boost::system::error_code ignored;  // a socket that is dead says so at its first use
  socket.assign({AF_UNIX, 0}, fd.release(), ignored);
  return socket;
}

Result<std::string> random_key() {
  TRY(const auto bytes, os::random_bytes<16>());
  std::array<unsigned char, 32> text{};  // 24 characters and a zero
  const int size = ::EVP_EncodeBlock(
      text.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return std::string{reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(size)};
}

MaskKey random_mask() {
  MaskKey key{};
  // Masks keep scripts in browsers from choosing bytes on the wire: where the kernel has none to
  // give, which it never has, nothing of ours depends on it.
  static_cast<void>(os::getrandom(std::as_writable_bytes(std::span{key})));
  return key;
}

}  // namespace

Client::Client(const asio::any_io_executor& executor, os::Fd socket, Authority host,
               ClientTimes times)
    : times_{times},
      host_{std::move(host)},
      watchdog_{executor},
      room_(kAnswerRoom),
      stream_{socket_of(executor, std::move(socket)), {}, watchdog_},
      inbox_{stream_, room_} {
  stream_.set_patience(kUnlimited);
}

async::Task<void> Client::put(std::span<const char> bytes) {
  stream_.limit(times_.write);
  auto sent = co_await stream_.write(bytes);
  stream_.lift_limit();
  co_return sent;
}

async::Task<void> Client::send_head(RequestHead head, After after) {
  body_.reset();
  early_.reset();
  method_ = head.method;
  has_asked_upgrade_ = after == After::upgrade;
  head.host = host_;
  CO_TRY(const std::string bytes, serialise(head, sent_, after));
  co_return co_await put(bytes);
}

async::Task<void> Client::begin(std::string method, std::string path, Fields fields,
                                std::optional<std::uint64_t> length) {
  CO_TRY(Target target, parse_target(method, path, 0));
  sent_ = {.kind = length ? (*length > 0 ? Kind::length : Kind::none) : Kind::chunked,
           .length = length.value_or(0)};
  RequestHead head{.method = std::move(method),
                   .target = std::move(target),
                   .host = {},
                   .fields = std::move(fields)};
  co_return co_await send_head(std::move(head), After::keep);
}

async::Task<void> Client::write(std::string_view piece) {
  if (sent_.kind != Kind::chunked) co_return co_await put(piece);
  std::string chunk;
  append_chunk(chunk, piece);
  co_return co_await put(chunk);
}

async::Task<void> Client::finish() {
  if (sent_.kind != Kind::chunked) co_return Status{};
  co_return co_await put(kLastChunk);
}

async::Task<void> Client::send(std::string method, std::string path, Fields fields,
                               std::string body) {
  CO_TRY_DO(co_await begin(std::move(method), std::move(path), std::move(fields), body.size()));
  co_return co_await put(body);
}

async::Task<ResponseHead> Client::head() {
  if (early_) {
    ResponseHead kept = *std::move(early_);
    early_.reset();
    co_return kept;
  }
  const Ticks deadline = Clock::now() + times_.head;
  for (;;) {
    ResponseReader reader;
    for (bool is_done = false; !is_done;) {
      CO_TRY(const std::string_view bytes, co_await inbox_.next(deadline));
      if (bytes.empty()) co_return Error{Errc::unavailable, "the server ended the connection"};
      auto fed = reader.feed(bytes);
      if (!fed) co_return std::move(fed).error();
      inbox_.keep(bytes.substr(fed->consumed));
      is_done = fed->done;
    }
    ResponseHead answer = reader.take();
    if (is_interim(answer)) continue;
    CO_TRY(const Framing framing,
           framing_of(answer, {.method = method_, .upgrade = has_asked_upgrade_}));
    if (framing.kind != Kind::tunnel) body_.emplace(framing);
    co_return answer;
  }
}

async::Task<std::size_t> Client::read_some(std::span<char> room) {
  std::size_t size = 0;
  while (size == 0 && body_ && !body_->done() && !room.empty()) {
    CO_TRY(std::string_view bytes, co_await inbox_.next(Clock::now() + times_.body));
    if (bytes.empty()) {
      CO_TRY_DO(body_->finish());
      body_.reset();
      break;
    }
    while (!bytes.empty() && size < room.size() && !body_->done()) {
      auto piece = body_->next(bytes.substr(0, room.size() - size));
      if (!piece) co_return std::move(piece).error();
      if (!piece->data.empty())
        std::memcpy(room.data() + size, piece->data.data(), piece->data.size());
      size += piece->data.size();
      bytes.remove_prefix(piece->consumed);
    }
    inbox_.keep(bytes);
  }
  co_return size;
}

async::Task<std::string> Client::read_body(std::size_t most) {
  std::string body;
  std::vector<char> room(std::size_t{16} << 10U);
  for (;;) {
    CO_TRY(const std::size_t got, co_await read_some(room));
    if (got == 0) co_return body;
    if (got > most - body.size())
      co_return Error{Errc::exhausted, "the answer is longer than " + std::to_string(most)};
    body.append(room.data(), got);
  }
}

async::Task<std::unique_ptr<WebSocket>> Client::upgrade(std::string path, Fields fields,
                                                        WebSocketRules rules) {
  CO_TRY(Target target, parse_target("GET", path, 0));
  CO_TRY(const std::string key, random_key());
  fields.push_back({.name = "Sec-WebSocket-Version", .value = "13"});
  fields.push_back({.name = "Sec-WebSocket-Key", .value = key});
  RequestHead asked{
      .method = "GET", .target = std::move(target), .host = {}, .fields = std::move(fields)};
  sent_ = {};
  CO_TRY_DO(co_await send_head(asked, After::upgrade));
  CO_TRY(ResponseHead answer, co_await head());
  if (answer.status != 101) {
    early_ = std::move(answer);
    co_return Error{Errc::denied, "the server does not speak WebSocket there"};
  }
  CO_TRY_DO(check_accepted(asked, answer));
  if (only(answer.fields, "sec-websocket-accept") != accepted_key(key))
    co_return Error{Errc::invalid, "the server answered another handshake"};
  co_return std::make_unique<WebSocket>(co_await asio::this_coro::executor, stream_, inbox_, rules,
                                        random_mask);
}

}  // namespace cordon::http
