// SPDX-License-Identifier: Apache-2.0
// A launcher of our own, as our child over a socket pair: local use.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/task.h"
#include "os/fd.h"
#include "os/process.h"
#include "sandbox/process/launcher_link.h"

namespace cordon::sandbox {

// A launcher that prepares itself while its caller does so too. Destroying it ends it.
struct StartedLauncher {
  os::Child child;
  os::Fd socket;
};
Result<StartedLauncher> start_launcher(const std::string& program);

class LocalLauncher {
 public:
  // Without root it writes the launcher's id maps, through the set-user-id helpers where the user
  // has subordinate ids and `spare_id` asks for one.
  static Result<LocalLauncher> adopt(const asio::any_io_executor& executor, StartedLauncher started,
                                     bool spare_id);
  // Both in one.
  static Result<LocalLauncher> start(const asio::any_io_executor& executor,
                                     const std::string& program, bool spare_id);

  // As of LauncherLink. `unavailable`: the launcher itself has gone.
  async::Task<LaunchedSandbox> launch(const frame::LaunchPlan& plan) { return link_.launch(plan); }
  async::Task<frame::Ended> destroy(std::string id) { return link_.destroy(std::move(id)); }

  async::Task<os::Fd> open_egress() {
    CO_TRY(OpenedEgress opened, co_await link_.open_egress({}));
    co_return std::move(opened.link);
  }
  async::Task<os::Fd> open_broker() { return link_.open_broker({}); }
  async::Task<frame::EngineTried> try_engine(bool machine) { return link_.try_engine(machine); }

  // Calls `act` once, when the launcher has ended. One at a time; `ignore_end` takes it back.
  void when_ended(std::function<void()> act);
  void ignore_end();

  // True when a call found that the launcher had ended without being asked to.
  bool is_lost() const noexcept { return link_.is_lost(); }
  // What a lost launcher left of its sandboxes is removed by the next one at its start: starts one
  // for that, and waits until it has ended.
  static Status reclaim(const std::string& program, bool spare_id);

 private:
  LocalLauncher(const asio::any_io_executor& executor, StartedLauncher started, os::Fd end);

  os::Child child_;
  LauncherLink link_;
  asio::posix::stream_descriptor end_;  // the child's pidfd
};

}  // namespace cordon::sandbox
