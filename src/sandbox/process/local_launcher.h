// SPDX-License-Identifier: Apache-2.0
// A launcher of our own, as our child over a socket pair: local use.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/launch_plan.h"
#include "frame/launcher.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::sandbox {

struct LaunchedSandbox {
  frame::Launched about;
  os::Fd control;
  os::Fd pidfd;  // of pid 1
  os::Fd range;  // the lock of its id range; empty where it has none
};

class LocalLauncher {
 public:
  // Starts `program`. Without root it writes the launcher's id maps, through the set-user-id
  // helpers where the user has subordinate ids and `spare_id` asks for one.
  static Result<LocalLauncher> start(const asio::any_io_executor& executor,
                                     const std::string& program, bool spare_id);

  async::Task<LaunchedSandbox> launch(const frame::LaunchPlan& plan);
  // Waits for the sandbox's end, asking for it first. `unavailable`: the launcher itself has gone.
  async::Task<frame::Ended> destroy(std::string id);

  // Calls `act` once, when the launcher has ended. One at a time; `ignore_end` takes it back.
  void when_ended(std::function<void()> act);
  void ignore_end();

  // True when a call found that the launcher had ended without being asked to.
  bool is_lost() const noexcept { return lost_; }
  // What a lost launcher left of its sandboxes is removed by the next one at its start: starts one
  // for that, and waits until it has ended.
  static Status reclaim(const std::string& program, bool spare_id);

 private:
  struct Started {
    os::Child child;
    os::Fd socket;
  };
  static Result<Started> start_program(const std::string& program, bool spare_id);

  LocalLauncher(const asio::any_io_executor& executor, Started started, os::Fd end);
  struct Message {
    frame::FromLauncher body;
    std::vector<os::Fd> fds;
  };
  async::Task<Message> receive();
  Error lost();

  os::Child child_;
  asio::posix::stream_descriptor socket_;
  asio::posix::stream_descriptor end_;  // the child's pidfd
  bool lost_ = false;
};

}  // namespace cordon::sandbox
