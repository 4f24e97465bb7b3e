// SPDX-License-Identifier: Apache-2.0
// The networks of one tenant's sandboxes: one egress serves them all, is told each policy, heard,
// and told everything again after a death.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/task.h"
#include "frame/egress.h"
#include "node/network.h"
#include "os/fd.h"
#include "sandbox/process/launcher_link.h"

namespace cordon::node {

// Used from the loop's thread only.
class TenantNetwork {
 public:
  // Gives a link to a running egress, started where there is none. An earlier link is dead.
  // `state`: of the last one, for a launcher that has not seen it.
  using Open = std::function<async::Task<sandbox::OpenedEgress>(os::Fd state)>;
  TenantNetwork(asio::any_io_executor executor, Open open);
  TenantNetwork(const TenantNetwork&) = delete;
  TenantNetwork& operator=(const TenantNetwork&) = delete;

  // Opens the link when it is first needed, hears it, and replaces an egress that has died: no
  // sandbox of the tenant has a network meanwhile. Ends when it is cancelled.
  asio::awaitable<void> keep();

  // What the sandbox may reach from now on; before its launch, or in place of what it could.
  // Returns when the egress holds to it, or to what was said later. An Error: it has refused, or
  // has not answered in time; the sandbox reaches nothing new then. `ears` live until forget().
  async::Task<frame::Serving> serve(frame::Serve serve, NetworkEars ears);

  // The same for one that lives already, and waits for nothing: it has no network until there is an
  // egress which holds to it.
  void serve_again(frame::Serve serve, NetworkEars ears);

  // As serve(), for one that is served, and heard as before. `not_found`: it is not.
  async::Task<void> change(frame::Serve serve);

  // Has the link opened, also where no sandbox wants out: a broker runs beside an egress.
  async::Task<void> opened();
  // Brings the egress a way to the broker of the tenant's secrets.
  async::Task<void> use_broker(os::Fd socket);
  // Called whenever a link was opened, before anything is said over it.
  void when_opened(std::function<async::Task<void>()> act) { when_opened_ = std::move(act); }

  // The sandbox has ended, and the egress was told so by the launcher.
  void forget(const std::string& id);

 private:
  struct Member {
    frame::Serve serve;
    NetworkEars ears;
    bool is_sent = false;
    std::optional<Result<frame::Serving>> answer;  // to what was sent last
  };
  void send_unsent();
  bool hear_waiting();
  void hear(const frame::EgressToNode& message);
  void answer(const std::string& id, std::uint64_t generation, Result<frame::Serving> answer);
  async::Task<void> open();
  asio::awaitable<void> serve_link();

  asio::any_io_executor executor_;
  Open open_;
  std::function<async::Task<void>()> when_opened_;
  bool is_wanted_ = false;  // also without members
  os::Fd link_;
  os::Fd state_;
  std::map<std::string, Member> members_;
  asio::steady_timer wanted_;    // never fires: cancelled when there is something to send
  asio::steady_timer answered_;  // and this, when something was answered
  std::uint64_t generation_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace cordon::node
