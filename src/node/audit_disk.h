// SPDX-License-Identifier: Apache-2.0
// Brings the audit log to the disk beside the loop that appends to it: many records with one wait.
#pragma once

#include <cstdint>
#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "async/task.h"
#include "audit/log.h"
#include "node/settings.h"

namespace cordon::node {

// Used from the loop's thread only.
class AuditDisk {
 public:
  // `log` outlives it.
  AuditDisk(const asio::any_io_executor& executor, audit::Log& log, AuditSettings settings);
  AuditDisk(const AuditDisk&) = delete;
  AuditDisk& operator=(const AuditDisk&) = delete;
  // Waits for a disk that is at work.
  ~AuditDisk();

  // Until it is cancelled.
  asio::awaitable<void> keep();

  // Before the act that was appended last. Returns at once in a `group`; else when the disk has all
  // that was appended before the call. `unrecorded` where it fails; needs keep().
  async::Task<void> settled();

 private:
  audit::Log& log_;
  AuditSettings settings_;
  asio::thread_pool thread_{1};
  asio::steady_timer wanted_;     // of keep(): until the disk is asked again
  asio::steady_timer done_;       // cancelled when it has answered
  std::uint64_t on_disk_ = 0;     // records
  std::uint64_t answers_ = 0;     // of the disk
  std::optional<Error> failure_;  // of its last answer
  bool is_wanted_ = false;        // somebody waits
};

}  // namespace cordon::node
