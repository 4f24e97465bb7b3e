// SPDX-License-Identifier: Apache-2.0
// The node's end of a launcher: requests one after the other, each with its answer.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/launch_plan.h"
#include "frame/launcher.h"
#include "os/fd.h"

namespace cordon::sandbox {

struct LaunchedSandbox {
  frame::Launched about;  // of one that was deposited only its id is known
  os::Fd control;
  os::Fd pidfd;  // of pid 1; empty for one that was deposited
  os::Fd range;  // the lock of its id range; empty where it has none
};

// Calls may overlap: they take turns. A call that is given up leaves the link whole.
class LauncherLink {
 public:
  // Over a socket to a launcher that speaks to nobody else.
  LauncherLink(const asio::any_io_executor& executor, os::Fd socket);

  // To a launcher that runs as a service. `denied`: it serves another user, or a node already, or
  // it is not root's.
  static async::Task<LauncherLink> connect(std::string path);

  // `denied`: the plan is below the launcher's floor. `unavailable`: a step failed.
  async::Task<LaunchedSandbox> launch(const frame::LaunchPlan& plan);
  // Waits for the sandbox's end, asking for it first. Of one that had ended by itself it tells how,
  // once; of one that nobody knows, nothing.
  async::Task<frame::Ended> destroy(std::string id);
  // All that the launcher holds.
  async::Task<std::vector<frame::Held>> list();
  // Of a node that is gone: on its control stream the guest goes on as after Resume. `not_found`:
  // the launcher has none, or it has ended.
  async::Task<LaunchedSandbox> fetch(std::string id);
  // Hands a sandbox of an earlier launcher to this one; the caller keeps its own copies.
  async::Task<void> deposit(const LaunchedSandbox& sandbox);

  // True when a call found that the launcher had ended. All calls give `unavailable` then.
  bool is_lost() const noexcept { return lost_; }

 private:
  struct Message {
    frame::FromLauncher body;
    std::vector<os::Fd> fds;
  };
  class Turn;
  struct Queue;

  // One request and the answer that is about `id`.
  async::Task<Message> ask(frame::ToLauncher request, std::string id, std::vector<os::Fd> fds = {});
  async::Task<Message> receive();
  static Result<LaunchedSandbox> sandbox_of(Message message);
  Error lost();

  asio::posix::stream_descriptor socket_;
  std::shared_ptr<Queue> queue_;  // of the link and of calls that wait for their turn
  bool lost_ = false;
};

}  // namespace cordon::sandbox
