// SPDX-License-Identifier: Apache-2.0
// cordon-egress's loop: sockets from the launcher, policies from the node, wards for both.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/scope.h"
#include "egress/dialler.h"
#include "egress/state_file.h"
#include "egress/ward.h"
#include "frame/egress.h"
#include "os/fd.h"

namespace cordon::egress {

class Server {
 public:
  // `launcher` and `node`: SOCK_SEQPACKET. All that it refers to outlives it.
  Server(Commons commons, os::Fd launcher, os::Fd node, StateFile& state);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Until the launcher goes. Without a node nothing changes: what is served is served on.
  asio::awaitable<void> run();

 private:
  asio::awaitable<void> hear_launcher();
  asio::awaitable<void> hear_node();
  void take(const frame::Listen& listen, std::vector<os::Fd> fds);
  asio::awaitable<void> take(frame::Forget forget);
  void take(const frame::Serve& serve);
  void take(const frame::UseBroker& use, std::vector<os::Fd> fds);
  Result<Ward*> ward_of(const std::string& id);
  bool tell_node(const frame::EgressToNode& message);
  // What the node waits for: told as soon as it listens, of one sandbox the newest only.
  void answer_node(const std::string& id, frame::EgressToNode answer);
  asio::awaitable<void> tell_answers();
  void tell_launcher(const frame::EgressToLauncher& message);

  Commons commons_;
  asio::posix::stream_descriptor launcher_;
  asio::posix::stream_descriptor node_;
  StateFile& state_;
  std::map<std::string, std::unique_ptr<Ward>> wards_;
  std::map<std::string, frame::EgressToNode> untold_;  // by sandbox
  async::Scope scope_;
};

}  // namespace cordon::egress
