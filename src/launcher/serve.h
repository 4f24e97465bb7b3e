// SPDX-License-Identifier: Apache-2.0
// The launcher's loop: one node's requests in, sandboxes and their ends out.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "frame/launcher.h"
#include "launcher/deposits.h"
#include "launcher/door.h"
#include "launcher/launch.h"
#include "launcher/listeners.h"
#include "launcher/node_keeper.h"
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
  // Local use: serves `node` until it goes.
  static Result<Server> over(Workshop workshop, os::Fd node);
  // A service: one node after the other, through `door`, until `stop` polls readable.
  // Takes as many descriptors as the host lets it have, and holds no more sandboxes than they
  // allow. `facts`: of the host, for nodes. `keeper`: of a node that it starts itself; nothing:
  // somebody else does.
  static Result<Server> at(Workshop workshop, Door door, os::Fd stop, std::string facts,
                           std::optional<NodeKeeper> keeper = {});

  // Everything that is held ends before this returns in order; else with the Server.
  Status run();

 private:
  Server(Workshop workshop, WhenAlone when_alone, os::Epoll epoll);

  // Sends back what an answer is, with the descriptors beside it.
  using Fds = std::span<const os::Fd* const>;

  Status serve_node();
  void admit();
  void keep_node();
  void bury_node();
  // False: it is over at once.
  bool begin_to_stop();
  // serve_sandboxes.cc
  void answer(const frame::Launch& request);
  void answer(const frame::Destroy& request);
  void answer(const frame::Fetch& request);
  void answer(const frame::Deposit& request, std::vector<os::Fd> fds);
  void answer(const frame::List& request);
  // serve_belongings.cc
  void answer(const frame::KeepListener& request, std::vector<os::Fd> fds);
  void answer(const frame::TakeListener& request);
  void answer(const frame::OpenEgress& request, std::vector<os::Fd> fds);
  void answer(const frame::OpenBroker& request);
  void answer(const frame::OpenNotary& request);
  void answer(const frame::OpenKeeper& request);
  void answer(const frame::OpenRecorder& request, std::vector<os::Fd> fds);
  void answer(const frame::ReadSource& request);
  void answer(const frame::TryEngine& request);

  void send(const frame::FromLauncher& message, Fds fds = {});
  // What a node needs of a sandbox, with a lock of its own.
  Status send_launched(const std::string& id, Sandbox& sandbox);
  // Its sockets, where it has some; gives whose.
  std::string add_network(const std::string& id, std::vector<const os::Fd*>& fds) const;
  void refuse(const std::string& id, std::string code, std::string text);
  void drop_node();
  bool knows(const std::string& id) const;
  bool is_full() const;

  // How it ended, and what is left of it: its groups, its disk and its ids go with this.
  struct Buried {
    frame::Ended end;
    std::optional<Sandbox> remains;
    os::Fd mounts;  // of a service: to take them down takes longer than all the rest
  };
  // Kills and reaps pid 1.
  Buried bury(const std::string& id);
  void keep_end(std::uint64_t tag);
  void end_all();
  // What there is to do while nobody asks for anything, and how long nobody must have asked.
  std::optional<std::chrono::milliseconds> patience() const;
  void use_idle_time();
  bool wants_spare() const;
  void begin_berth();
  void await_berth();
  void hear_of_berth();

  Workshop workshop_;
  WhenAlone when_alone_;
  os::Epoll epoll_;
  std::optional<Door> door_;  // of a service
  os::Fd stop_;
  std::string facts_;
  os::Fd node_;  // empty while there is none
  std::map<std::string, Sandbox> sandboxes_;
  std::map<std::uint64_t, std::string> tags_;   // of the epoll set, by pidfd
  std::map<std::string, frame::Ended> ended_;   // by themselves, and nobody asked yet
  std::map<std::uint64_t, os::Child> readers_;  // of sources of secrets, by tag
  Deposits deposits_;
  Listeners listeners_;
  std::optional<NodeKeeper> keeper_;
  std::optional<NodeKeeper::Clock::time_point> stop_by_;  // the node has been asked to end
  std::uint64_t next_tag_;
  std::size_t most_held_;
  // One for all messages: it is too large to be asked for each time.
  std::unique_ptr<std::byte[]> message_;
  std::optional<Error> unsaid_;  // why the last answer did not reach its node
  unsigned sweeps_ = 0;          // for groups of earlier launchers, whose sandboxes end about now
};

}  // namespace cordon::launcher
