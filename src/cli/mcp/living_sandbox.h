// SPDX-License-Identifier: Apache-2.0
// A sandbox of this machine in which several commands may run: from its launch to its end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "audit/log.h"
#include "base/clock.h"
#include "cli/local_sandbox.h"
#include "cli/mcp/news.h"
#include "cli/run_options.h"
#include "node/resident.h"
#include "record/host_facts.h"

namespace cordon::cli {

// What all sandboxes of a server have in common; it outlives them.
struct SandboxHouse {
  asio::any_io_executor executor;
  const Context& context;
  const HostFacts& host;
  const Clock& clock;
};

// Used from the loop's thread only.
class LivingSandbox {
 public:
  // `typed`: how it was typed, before and behind the place where one more flag goes.
  LivingSandbox(const SandboxHouse& house, PreparedRun run,
                std::pair<std::string, std::string> typed);
  LivingSandbox(const LivingSandbox&) = delete;
  LivingSandbox& operator=(const LivingSandbox&) = delete;

  // From its launch to its end, which is complete and recorded when this returns. Spawned once.
  asio::awaitable<void> live();

  // Until it stands. An Error: why it never will.
  async::Task<void> stands();
  // Before: it stands.
  Result<std::shared_ptr<node::ResidentProcess>> start(sandbox::Command command);
  const plan::Lowered& lowered() const;

  // Asks for its end, whether it stands or not.
  void end();
  asio::awaitable<void> ended();
  bool is_ending() const;
  bool is_over() const noexcept { return is_over_; }

  // What was refused since this was asked last.
  std::vector<Denial> take_denials();
  // Of its end: nothing while it lives, and where it never stood.
  const std::optional<Verdict>& verdict() const noexcept { return verdict_; }
  // Why a process of it ended, once it is over: a limit may have killed it.
  Verdict judge(const node::ResidentProcess& process) const;

  const std::string& id() const noexcept { return id_; }

 private:
  // The order is that of their making.
  struct Records {
    std::unique_ptr<audit::Log> log;
    audit::Subject subject;
    node::NetworkRecord network;
    node::SeenRecord inside;
    node::Responses responses;
    Records(std::unique_ptr<audit::Log> own, audit::Subject whose,
            std::pair<std::string, std::string> typed, node::SeenRecord seen,
            const std::vector<frame::Response>& rules);
  };

  static asio::awaitable<Result<void>> live_in(async::Scope& scope, LivingSandbox*& self);
  async::Task<void> launch(async::Scope& scope);
  Status open_records();
  Status start_launcher();
  void respond();
  void record_end(const Status& lived);

  SandboxHouse house_;
  PreparedRun run_;
  std::pair<std::string, std::string> typed_;
  std::string id_;
  // Nothing: not yet.
  std::unique_ptr<Records> records_;
  std::unique_ptr<sandbox::LocalLauncher> launcher_;
  std::unique_ptr<LocalSandbox> local_;
  std::unique_ptr<node::Resident> resident_;
  std::optional<Verdict> verdict_;
  std::optional<Error> failure_;  // why it never stood
  News news_;
  bool is_ended_ = false;  // somebody asked for it
  bool is_over_ = false;
};

}  // namespace cordon::cli
