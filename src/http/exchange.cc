// SPDX-License-Identifier: Apache-2.0
#include "http/exchange.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "http/chunked.h"
#include "http/connection.h"

namespace cordon::http {
namespace {

using Kind = Framing::Kind;

// Up to here a body is copied behind its head, to be sent with it.
constexpr std::size_t kMostCopied = std::size_t{64} << 10U;

bool is_bare(int status) noexcept { return status < 200 || status == 204 || status == 304; }

Error misused(std::string_view what) { return {Errc::internal, std::string{what}}; }

}  // namespace

Exchange::Exchange(RequestHead head, const Peer& peer, Stream& stream, SharedInbox& inbox,
                   const Server& server)
    : head_{std::move(head)},
      peer_{peer},
      stream_{stream},
      inbox_{inbox},
      server_{server},
      body_{head_, stream, inbox, server.times, server.limits} {}

After Exchange::after() const noexcept {
  const bool keeps =
      !server_.is_draining && keeps_alive(head_.version, head_.fields) && body_.may_drop_rest();
  return keeps ? After::keep : After::close;
}

async::Task<void> Exchange::send(std::span<const char> bytes) {
  const std::chrono::seconds earned{bytes.size() / std::max<std::uint64_t>(server_.limits.rate, 1)};
  stream_.limit(server_.times.write + earned);
  auto sent = co_await stream_.write(bytes);
  stream_.lift_limit();
  if (!sent) state_ = State::broken;
  co_return sent;
}

Result<std::string> Exchange::head_bytes(int status, Fields fields, const Framing& framing,
                                         After after) {
  ResponseHead head{
      .status = status, .version = head_.version, .announced = {}, .fields = std::move(fields)};
  head.fields.push_back({.name = "Date", .value = std::string{server_.date()}});
  if (server_.also) std::ranges::move(server_.also(), std::back_inserter(head.fields));
  return serialise(head, framing, after);
}

async::Task<void> Exchange::answer(int status, Fields fields, std::string body) {
  if (is_answered()) co_return misused("a second answer");
  const bool bare = is_bare(status);
  const bool hidden = bare || head_.method == "HEAD";
  const Framing framing{.kind = bare ? Kind::none : (hidden ? Kind::announced : Kind::length),
                        .length = bare ? 0 : body.size()};
  const After then = after();
  CO_TRY(std::string bytes, head_bytes(status, std::move(fields), framing, then));
  keeps_ = then == After::keep;
  state_ = State::answered;
  if (hidden) body.clear();
  const bool copies = body.size() <= kMostCopied;
  if (copies) bytes.append(body);
  CO_TRY_DO(co_await send(bytes));
  if (!copies) {
    CO_TRY_DO(co_await send(body));
  }
  co_return Status{};
}

async::Task<void> Exchange::begin(int status, Fields fields, std::optional<std::uint64_t> length) {
  if (is_answered()) co_return misused("a second answer");
  if (is_bare(status)) co_return misused("an answer that has no body is not sent in pieces");
  const bool hidden = head_.method == "HEAD";
  sent_.kind = head_.version == Version::http11 ? Kind::chunked : Kind::until_close;
  if (length) sent_ = {.kind = hidden ? Kind::announced : Kind::length, .length = *length};
  const After then = sent_.kind == Kind::until_close ? After::close : after();
  CO_TRY(const std::string bytes, head_bytes(status, std::move(fields), sent_, then));
  left_ = length.value_or(0);
  keeps_ = then == After::keep;
  state_ = State::streaming;
  co_return co_await send(bytes);
}

async::Task<void> Exchange::write(std::string_view piece) {
  if (state_ != State::streaming) co_return misused("a piece of no answer");
  if (sent_.kind == Kind::length || sent_.kind == Kind::announced) {
    if (piece.size() > left_) co_return misused("more than the length that was told");
    left_ -= piece.size();
  }
  if (head_.method == "HEAD" || piece.empty()) co_return Status{};
  if (sent_.kind != Kind::chunked) co_return co_await send(piece);
  std::string chunk;
  chunk.reserve(piece.size() + 24);
  append_chunk(chunk, piece);
  co_return co_await send(chunk);
}

async::Task<void> Exchange::finish() {
  if (state_ != State::streaming) co_return misused("the end of no answer");
  if (left_ > 0 && head_.method != "HEAD") co_return misused("less than the length that was told");
  state_ = State::answered;
  if (sent_.kind != Kind::chunked || head_.method == "HEAD") co_return Status{};
  co_return co_await send(kLastChunk);
}

}  // namespace cordon::http
