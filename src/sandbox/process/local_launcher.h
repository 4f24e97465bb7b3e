// SPDX-License-Identifier: Apache-2.0
// A launcher of our own, as our child over a socket pair: local use.
#pragma once

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

 private:
  LocalLauncher(const asio::any_io_executor& executor, os::Child child, os::Fd socket);
  struct Message {
    frame::FromLauncher body;
    std::vector<os::Fd> fds;
  };
  async::Task<Message> receive();

  os::Child child_;
  asio::posix::stream_descriptor socket_;
};

}  // namespace cordon::sandbox
