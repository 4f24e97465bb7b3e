// SPDX-License-Identifier: Apache-2.0
#include "egress/body_mover.h"

#include <algorithm>
#include <chrono>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/chunked.h"
#include "http/refusal.h"

namespace cordon::egress {

using Kind = http::Framing::Kind;

asio::awaitable<std::optional<HttpRefusal>> spend(HttpGate& gate, Direction direction,
                                                  std::uint64_t size) {
  while (size > 0) {
    const auto allowed = gate.move(direction, size);
    if (allowed.spent)
      co_return HttpRefusal{
          .status = 503, .code = "egress_budget_exceeded", .text = allowed.spent->why};
    size -= std::min(size, allowed.bytes);
    if (allowed.bytes > 0) continue;
    asio::steady_timer timer{
        co_await asio::this_coro::executor,
        std::max<std::chrono::nanoseconds>(allowed.wait, std::chrono::milliseconds{1})};
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return std::nullopt;
}

BodyFault BodyMover::source_fault(const Error& error) const {
  if (direction_ == Direction::in)
    return {.side = BodyFault::Side::source,
            .refusal = {.status = error.code() == Errc::timeout ? 504 : 502,
                        .code = "upstream_failed",
                        .text = "the answer of the host broke off: " + error.text()}};
  return {.side = BodyFault::Side::source,
          .refusal = {.status = error.code() == Errc::timeout ? 408 : 400,
                      .code = "bad_request",
                      .text = error.text()}};
}

std::optional<BodyFault> BodyMover::append(std::string_view data, bool chunked) {
  std::string passed;
  if (scanner_) {
    auto judged = scanner_->push(data);
    if (!judged) return BodyFault{BodyFault::Side::gate, std::move(judged).error()};
    passed = *std::move(judged);
    data = passed;
  }
  chunked ? http::append_chunk(out_, data) : static_cast<void>(out_.append(data));
  return std::nullopt;
}

std::optional<BodyFault> BodyMover::append_end(bool chunked) {
  if (scanner_) {
    auto rest = scanner_->finish();
    if (!rest) return BodyFault{BodyFault::Side::gate, std::move(rest).error()};
    chunked ? http::append_chunk(out_, *rest) : static_cast<void>(out_.append(*rest));
  }
  if (chunked) out_.append(http::kLastChunk);
  return std::nullopt;
}

asio::awaitable<std::optional<BodyFault>> BodyMover::flush() {
  if (out_.empty()) co_return std::nullopt;
  if (auto refusal = co_await spend(gate_, direction_, out_.size()))
    co_return BodyFault{BodyFault::Side::gate, *std::move(refusal)};
  if (auto written = co_await to_.write(out_); !written) {
    co_return BodyFault{BodyFault::Side::sink,
                        {.status = 502, .code = "upstream_failed", .text = written.error().text()}};
  }
  moved_ += out_.size();
  out_.clear();
  co_return std::nullopt;
}

// More of the body. False: it ended with its connection, as it may.
asio::awaitable<std::expected<bool, BodyFault>> BodyMover::fill(const http::BodyReader& reader) {
  // What is there goes on before more is waited for: answers may come in pieces over hours.
  if (auto fault = co_await flush()) co_return std::unexpected{*std::move(fault)};
  const auto more = co_await from_.fill();
  if (!more) co_return std::unexpected{source_fault(more.error())};
  if (*more) co_return true;
  if (const auto whole = reader.finish(); !whole)
    co_return std::unexpected{source_fault(whole.error())};
  co_return false;
}

asio::awaitable<std::optional<BodyFault>> BodyMover::move(http::Framing in, http::Framing out,
                                                          std::string first,
                                                          std::unique_ptr<HttpScanner> scanner) {
  out_ = std::move(first);
  if (in.kind == Kind::none || in.kind == Kind::announced) co_return co_await flush();
  scanner_ = std::move(scanner);
  const bool chunked = out.kind == Kind::chunked;
  http::BodyReader reader{in};
  while (!reader.done()) {
    if (from_.empty()) {
      auto more = co_await fill(reader);
      if (!more) co_return std::move(more).error();
      if (!*more) break;
    }
    const auto piece = reader.next(from_.bytes());
    if (!piece) co_return source_fault(piece.error());
    if (auto fault = append(piece->data, chunked)) co_return fault;
    from_.drop(piece->consumed);
    if (out_.size() < kFlush) continue;
    if (auto fault = co_await flush()) co_return fault;
  }
  if (auto fault = append_end(chunked)) co_return fault;
  co_return co_await flush();
}

}  // namespace cordon::egress
