// SPDX-License-Identifier: Apache-2.0
// The launcher's loop: one node's requests in, sandboxes and their ends out.
#pragma once

#include <map>
#include <string>

#include "frame/launcher.h"
#include "launcher/launch.h"
#include "os/epoll.h"
#include "os/fd.h"

namespace cordon::launcher {

// What happens to the sandboxes when the node goes.
enum class WhenAlone : std::uint8_t {
  end,   // local use: the sandboxes end with it, and the launcher ends
  wait,  // a service: they live, and the next node fetches its streams
};

class Server {
 public:
  static Result<Server> create(Workshop workshop, os::Fd node, WhenAlone when_alone);

  // Until the node has gone and nothing is left to do. Everything that is held ends with the
  // Server.
  Status run();

 private:
  Server(Workshop workshop, os::Fd node, WhenAlone when_alone, os::Epoll epoll);

  Status serve_node();
  Status answer(const frame::Launch& request);
  Status answer(const frame::Destroy& request);
  Status answer(const frame::Fetch& request);
  Status answer(const frame::Deposit& request, os::Fd control);
  Status answer(const frame::List& request);
  Status send(const frame::FromLauncher& message, std::span<const os::Fd* const> fds = {}) const;
  // Reaps pid 1 and removes the rest. Gives how it ended.
  frame::Ended bury(const std::string& id);
  Status tell_of_end(std::uint64_t tag);

  Workshop workshop_;
  os::Fd node_;
  WhenAlone when_alone_;
  os::Epoll epoll_;
  std::map<std::string, Sandbox> sandboxes_;
  std::map<std::uint64_t, std::string> tags_;  // of the epoll set, by pidfd
  std::map<std::string, os::Fd> deposits_;     // streams of sandboxes that another launcher started
  std::uint64_t next_tag_ = 1;
  bool alone_ = false;
};

}  // namespace cordon::launcher
