// SPDX-License-Identifier: Apache-2.0
#include "http/request_body.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

namespace cordon::http {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// More than that is asked for as it comes, whatever length was announced.
constexpr std::uint64_t kMostReserved = std::uint64_t{1} << 20U;

Error too_long(std::size_t most) {
  return {Errc::exhausted, "the body is longer than " + std::to_string(most) + " bytes"};
}

}  // namespace

RequestBody::RequestBody(const RequestHead& head, Stream& stream, SharedInbox& inbox,
                         const ServerTimes& times, const ServerLimits& limits)
    : framing_{framing_of(head)},
      reader_{framing_},
      stream_{stream},
      inbox_{inbox},
      times_{times},
      limits_{limits},
      awaits_invitation_{head.version == Version::http11 && count(head.fields, "expect") > 0} {}

Error RequestBody::failed(Error error) {
  if (fault_ != 0) return error;
  switch (error.code()) {
    case Errc::exhausted:
      fault_ = 413;
      break;
    case Errc::timeout:
      fault_ = 408;
      break;
    default:
      fault_ = 400;
  }
  return error;
}

// A client that waits for a word before it sends hears it when somebody wants to read.
async::Task<void> RequestBody::invite() {
  if (!std::exchange(awaits_invitation_, false) || inbox_.has_bytes()) co_return Status{};
  stream_.limit(times_.write);
  auto told = co_await stream_.write(kContinue);
  stream_.lift_limit();
  co_return told;
}

async::Task<std::string_view> RequestBody::more() {
  const Ticks now = Clock::now();
  if (began_ == Ticks{}) began_ = now;
  Ticks deadline = now + times_.body;
  if (!may_be_slow_) {
    const std::chrono::seconds earned{received_ / std::max<std::uint64_t>(limits_.rate, 1)};
    deadline = std::min(deadline, began_ + times_.body + earned);
  }
  auto bytes = co_await inbox_.next(deadline);
  if (!bytes) co_return failed(std::move(bytes).error());
  if (bytes->empty()) co_return failed(Error{Errc::unavailable, "the client broke off its body"});
  co_return bytes;
}

async::Task<std::size_t> RequestBody::read_some(std::span<char> room) {
  if (reader_.done() || room.empty()) co_return std::size_t{0};
  CO_TRY_DO(co_await invite());
  std::size_t size = 0;
  while (size == 0 && !reader_.done()) {
    CO_TRY(std::string_view bytes, co_await more());
    while (!bytes.empty() && size < room.size() && !reader_.done()) {
      auto piece = reader_.next(bytes.substr(0, room.size() - size));
      if (!piece) co_return failed(std::move(piece).error());
      // Nothing to copy has no place to be copied from.
      if (!piece->data.empty())
        std::memcpy(room.data() + size, piece->data.data(), piece->data.size());
      size += piece->data.size();
      received_ += piece->consumed;
      bytes.remove_prefix(piece->consumed);
    }
    inbox_.keep(bytes);
  }
  co_return size;
}

async::Task<std::string> RequestBody::read_all(std::size_t most) {
  const bool is_told = framing_.kind == Framing::Kind::length;
  if (is_told && framing_.length > most) co_return failed(too_long(most));
  std::string body;
  if (reader_.done()) co_return body;
  CO_TRY_DO(co_await invite());
  if (is_told) body.reserve(std::min(framing_.length, kMostReserved));
  while (!reader_.done()) {
    CO_TRY(std::string_view bytes, co_await more());
    while (!bytes.empty() && !reader_.done()) {
      auto piece = reader_.next(bytes);
      if (!piece) co_return failed(std::move(piece).error());
      if (piece->data.size() > most - body.size()) co_return failed(too_long(most));
      body.append(piece->data);
      received_ += piece->consumed;
      bytes.remove_prefix(piece->consumed);
    }
    inbox_.keep(bytes);
  }
  co_return body;
}

bool RequestBody::may_drop_rest() const noexcept {
  if (reader_.done()) return true;
  // Who waits to be invited may send a body all the same, or the next request.
  if (awaits_invitation_ || fault_ != 0) return false;
  return framing_.kind == Framing::Kind::chunked || framing_.length - received_ <= limits_.drained;
}

asio::awaitable<bool> RequestBody::drop_rest() {
  if (!may_drop_rest()) co_return false;
  for (std::uint64_t dropped = 0; !reader_.done();) {
    const auto got = co_await more();
    if (!got) co_return false;
    std::string_view bytes = *got;
    while (!bytes.empty() && !reader_.done()) {
      const auto piece = reader_.next(bytes);
      if (!piece) co_return false;
      dropped += piece->consumed;
      bytes.remove_prefix(piece->consumed);
    }
    inbox_.keep(bytes);
    if (dropped > limits_.drained) co_return false;
  }
  co_return true;
}

}  // namespace cordon::http
