// SPDX-License-Identifier: Apache-2.0
#include "sandbox/outbox.h"

#include <utility>

#include "async/waiting.h"

namespace cordon::sandbox {
namespace {

// Who has long frames waits beyond this; short ones go on until the guest has to be given up.
constexpr std::size_t kRoom = std::size_t{1} << 20U;
constexpr std::size_t kMostWaiting = std::size_t{4} << 20U;

}  // namespace

Error protocol_error(std::string what) {
  return Error{Errc::unavailable, "agent_protocol_error: " + std::move(what)};
}

Outbox::Outbox(const asio::any_io_executor& executor)
    : news_{executor, asio::steady_timer::time_point::max()},
      room_{executor, asio::steady_timer::time_point::max()} {}

void Outbox::send(const frame::ToGuest& frame) {
  if (ended_) return;
  if (waiting_.size() > kMostWaiting) {
    return end(protocol_error("it does not read what it is sent"));
  }
  const std::vector<std::byte> bytes = frame::encode(frame);
  waiting_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  news_.cancel();
}

asio::awaitable<void> Outbox::room() {
  while (!ended_ && waiting_.size() >= kRoom) co_await room_.async_wait(async::kQuiet);
}

asio::awaitable<std::string> Outbox::batch() {
  while (!ended_ && waiting_.empty()) co_await news_.async_wait(async::kQuiet);
  if (ended_) co_return std::string{};
  room_.cancel();
  co_return std::exchange(waiting_, {});
}

void Outbox::end(Error why) {
  if (ended_) return;
  ended_ = std::move(why);
  waiting_ = std::string{};
  news_.cancel();
  room_.cancel();
}

Error Outbox::why() const {
  return ended_ ? *ended_ : Error{Errc::internal, "the sandbox has not ended"};
}

}  // namespace cordon::sandbox
