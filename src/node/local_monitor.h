// SPDX-License-Identifier: Apache-2.0
// What happens inside of the one sandbox of a local run, as its filter tells it: recorded while it
// runs, its refusals told at its end.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "monitor/classes.h"
#include "monitor/witness.h"
#include "node/seen_record.h"
#include "os/fd.h"

namespace cordon::node {

// Used from the loop's thread only.
class LocalMonitor {
 public:
  // `record` and the loop of `executor` outlive it.
  LocalMonitor(asio::any_io_executor executor, const plan::Lowered& lowered, SeenRecord& record);
  LocalMonitor(const LocalMonitor&) = delete;
  LocalMonitor& operator=(const LocalMonitor&) = delete;

  // Before anything runs. `witness`: of the sandbox.
  Status begin(os::Fd witness);
  // The sandbox has ended: all that had happened in it is recorded when this returns.
  void end();

 private:
  // What comes at once is taken at once: little after the first of it.
  void gather();
  void take_news();
  // So many of those that wait, at most.
  void record_some(std::size_t most);

  asio::any_io_executor executor_;
  asio::steady_timer gathered_;
  frame::Fences fences_;
  monitor::Classes classes_;
  SeenRecord& record_;
  std::unique_ptr<monitor::Witness> witness_;
  std::deque<monitor::Intent> waiting_;
  std::shared_ptr<const os::HeldTree> tree_;  // of the sandbox
  os::KnownMounts mounts_;
};

}  // namespace cordon::node
