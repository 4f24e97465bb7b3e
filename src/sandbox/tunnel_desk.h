// SPDX-License-Identifier: Apache-2.0
// The tunnels to ports of one guest: bytes both ways, each within its window.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/guest.h"
#include "sandbox/outbox.h"
#include "sandbox/sandbox.h"

namespace cordon::sandbox {

class TunnelDesk {
 public:
  // `outbox` outlives it.
  TunnelDesk(asio::any_io_executor executor, Outbox& outbox);

  // The tunnel, once it stands. `keep`: lives as long as it does, and this desk with it.
  async::Task<std::unique_ptr<Tunnel>> open(std::uint16_t port, std::shared_ptr<void> keep);

  // What the guest says. An error is a break of the protocol.
  Status take(const frame::TunnelOpened& opened);
  Status take(const frame::TunnelFailed& failed);
  Status take(frame::TunnelData data);
  Status take(const frame::TunnelEnd& end);
  Status take(const frame::TunnelTaken& taken);
  // Wakes all who wait: the outbox has ended.
  void end();

  std::size_t size() const noexcept { return channels_.size(); }

 private:
  struct Channel {
    explicit Channel(const asio::any_io_executor& executor);
    asio::steady_timer news;  // never fire: cancelled to wake who waits
    asio::steady_timer room;
    bool opened = false;
    int failure = 0;
    std::deque<std::string> arrived;
    std::uint64_t received = 0;
    std::uint64_t taken = 0;       // by the caller
    std::uint64_t taken_told = 0;  // to the guest
    bool ended = false;            // by the program inside
    std::uint64_t sent = 0;
    std::uint64_t confirmed = 0;
    bool shut = false;  // by the caller
  };
  using Held = std::shared_ptr<Channel>;
  class Handle;

  // Of a number that was never used: an error. Nothing: it is closed.
  Result<Held> told_of(std::uint32_t number) const;
  async::Task<std::string> read_some(std::uint32_t number, Held from);
  async::Task<void> write(std::uint32_t number, Held to, std::string bytes);
  void shut(std::uint32_t number, Channel& channel);
  void close(std::uint32_t number);

  asio::any_io_executor executor_;
  Outbox& outbox_;
  std::map<std::uint32_t, Held> channels_;
  std::uint32_t next_ = 1;
};

}  // namespace cordon::sandbox
