// SPDX-License-Identifier: Apache-2.0
// The watches on files of one guest: what each has told and nobody has asked for yet.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/guest.h"
#include "sandbox/outbox.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox {

class WatchDesk {
 public:
  // Events of one watch that wait for its caller: with more, all of them are dropped, and it is
  // told so.
  static constexpr std::size_t kMostWaiting = 4096;
  // And the bytes of their names.
  static constexpr std::size_t kMostWaitingBytes = std::size_t{1} << 20U;

  // `outbox` outlives it.
  WatchDesk(asio::any_io_executor executor, Outbox& outbox);

  // The watch, once it sees. `keep`: lives as long as it does, and this desk with it.
  async::Task<std::unique_ptr<Watch>> begin(frame::StartWatch wanted, std::shared_ptr<void> keep);

  // What the guest says. An error is a break of the protocol.
  Status take(const frame::WatchBegun& begun);
  Status take(frame::WatchEvents told);
  Status take(const frame::WatchEnded& ended);
  // Wakes all who wait: the outbox has ended.
  void end();

 private:
  struct Channel {
    explicit Channel(const asio::any_io_executor& executor);
    asio::steady_timer news;  // never fires: cancelled to wake who waits
    bool begun = false;
    std::optional<int> ended;
    frame::WatchEvents waiting;
    std::size_t waiting_bytes = 0;
  };
  using Held = std::shared_ptr<Channel>;
  class Handle;

  Result<Held> told_of(std::uint32_t number) const;
  async::Task<frame::WatchEvents> next(Held from);
  void stop(std::uint32_t number);

  asio::any_io_executor executor_;
  Outbox& outbox_;
  std::map<std::uint32_t, Held> channels_;
  std::uint32_t next_ = 1;
};

}  // namespace cordon::sandbox
