// SPDX-License-Identifier: Apache-2.0
// Which of the indexes of a cell acts: the one whose key stands in the cell's etcd, under a lease.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"

namespace cordon::fleet {

// Used from the loop's thread only.
class Election {
 public:
  struct Rules {
    std::chrono::seconds ttl{6};  // three times what an election of etcd's takes
    // Before the lease can have run out, by our clock: what is being answered then is over in time.
    std::chrono::milliseconds margin{1'000};
    std::chrono::milliseconds look{1'000};  // of one that waits
  };

  // `client`, of the cell's etcd, and `clock` outlive it. `address`: where gateways reach us.
  Election(const asio::any_io_executor& executor, etcd::Client& client, std::uint16_t cell,
           std::string address, const Clock& clock, Rules rules);
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  // Stands for election, and again whenever it was lost; until it is cancelled, or ends with
  // `denied`: this identity may not write that key.
  async::Task<void> run();
  // After run() has ended: another need not wait for the lease to run out.
  async::Task<void> leave();

  // The number under which we act now; nothing: we do not. Two never act with one number, and no
  // two at once.
  std::optional<std::uint64_t> acts() const;
  // The number under which we were elected, also while it is in doubt for a moment whether the
  // lease still holds: as long as nobody says that it does not, acts() may give it again, and
  // nobody else has acted meanwhile.
  std::optional<std::uint64_t> elected() const;
  // Somebody has heard of a later one than us: the next number is well behind it.
  void overtaken();

 private:
  async::Task<bool> is_held();
  async::Task<void> stand();
  async::Task<void> hold();

  etcd::Client& client_;
  std::string key_;
  std::string address_;
  const Clock& clock_;
  Rules rules_;
  std::uint64_t number_ = 0;  // the last that we had
  std::uint64_t ahead_ = 0;   // of our clock
  bool is_elected_ = false;
  Ticks until_{};
  etcd::LeaseId lease_ = etcd::LeaseId::none;
  asio::steady_timer overtaken_;  // never fires: cancelled to give up the lease
};

}  // namespace cordon::fleet
