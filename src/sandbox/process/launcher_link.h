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
#include "os/steering.h"

namespace cordon::sandbox {

struct LaunchedSandbox {
  frame::Launched about;  // of one that was deposited only its id is known
  os::Fd control;
  os::Fd pidfd;    // of pid 1; empty for one that was deposited
  os::Fd range;    // the lock of its id range; empty where it has none
  os::Fd witness;  // at which listeners of its filter arrive; empty where it tells nobody
  // Of its network, which about.tenant's egress serves: held for another launcher; never used here.
  os::SteeredSockets sockets;
};

struct OpenedEgress {
  os::Fd link;
  os::Fd state;  // for open_egress() of the next launcher; nothing that can be opened here
};

struct KeptListener {
  std::string name;
  std::string address;
  os::Fd socket;
};

// Calls may overlap: they take turns. A call that is given up leaves the link whole.
class LauncherLink {
 public:
  // Over a socket to a launcher that speaks to nobody else.
  LauncherLink(const asio::any_io_executor& executor, os::Fd socket);

  // To a launcher that runs as a service. `denied`: it serves another user, or a node already, or
  // it is not root's. Calls that find it gone wait a while for renew().
  static async::Task<LauncherLink> connect(std::string path);
  // Returns when the launcher has ended: is_lost().
  asio::awaitable<void> until_lost();
  // To the one that has taken its place, which knows of nothing. After until_lost().
  async::Task<void> renew();

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
  async::Task<void> deposit(LaunchedSandbox copies);

  // A socket that listens, for whatever node comes next; an empty one: there is none any more. The
  // caller keeps its own copy.
  async::Task<void> keep_listener(KeptListener copy);
  // `not_found`: none of that name was kept.
  async::Task<KeptListener> take_listener(std::string name);

  // The node's link to the tenant's cordon-egress (frame/egress.h), which is started where it does
  // not run. An earlier link is dead. `state`: a copy of what the last call gave.
  async::Task<OpenedEgress> open_egress(std::string tenant, os::Fd state = {});
  // The owner's link to the tenant's cordon-broker (frame/broker.h), started anew. Before:
  // open_egress().
  async::Task<os::Fd> open_broker(std::string tenant);
  // The link to the launcher's cordon-notary (frame/notary.h), started anew. `unavailable`: it has
  // none.
  async::Task<os::Fd> open_notary();

  // The link to a new cordon-keeper (frame/keeper.h); an earlier one ends. `unavailable`: the floor
  // names no store that the node may have written to.
  async::Task<os::Fd> open_keeper();
  // The monitor's program in the kernel, four descriptors: frame::RecorderOpened. `kept`: copies of
  // what an earlier launcher gave. `unavailable`: there is none.
  async::Task<std::vector<os::Fd>> open_recorder(std::vector<os::Fd> kept = {});
  // Whether gVisor works here; takes as long as a sandbox behind it.
  async::Task<frame::EngineTried> try_engine(bool machine);
  // Has a source of secrets read for the tenant's broker, which knows the secret by `ticket`.
  // Returns before it is read. Before: open_broker().
  async::Task<void> read_source(frame::ReadSource wanted);

  // Of the host, as a service told them: record/host_facts_text.h.
  const std::string& facts() const noexcept { return facts_; }

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

  static Result<os::Fd> knock(const std::string& path);
  async::Task<void> be_welcomed();
  async::Task<void> until_renewed();

  asio::posix::stream_descriptor socket_;
  std::string path_;              // of a service
  std::shared_ptr<Queue> queue_;  // of the link and of calls that wait for their turn
  std::string facts_;
  bool lost_ = false;
};

}  // namespace cordon::sandbox
