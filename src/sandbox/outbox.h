// SPDX-License-Identifier: Apache-2.0
// Frames on their way to a guest, and whether there is a guest at all.
#pragma once

#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/result.h"
#include "frame/guest.h"

namespace cordon::sandbox {

// What the guest broke: it is listened to no more.
Error protocol_error(std::string what);

// A guest that does not read makes those wait who have much to say, and must not fill our memory.
class Outbox {
 public:
  explicit Outbox(const asio::any_io_executor& executor);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // After the end it goes nowhere. Short frames only, unless there is room.
  void send(const frame::ToGuest& frame);
  // Returns when there is room for a long frame, or at the end.
  asio::awaitable<void> room();

  // The next bytes to write; empty at the end only.
  asio::awaitable<std::string> batch();

  void end(Error why);
  bool ended() const noexcept { return ended_.has_value(); }
  // Before: ended.
  Error why() const;

 private:
  std::string waiting_;
  asio::steady_timer news_;  // never fire: cancelled to wake who waits
  asio::steady_timer room_;
  std::optional<Error> ended_;
};

}  // namespace cordon::sandbox
