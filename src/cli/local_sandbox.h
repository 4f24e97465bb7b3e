// SPDX-License-Identifier: Apache-2.0
// A sandbox of this machine with all that stands beside it: its network, its credentials, and who
// hears what happens inside.
#pragma once

#include <memory>
#include <optional>

#include <boost/asio/any_io_executor.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "cli/run_prepare.h"
#include "cli/verbs.h"
#include "node/credentials.h"
#include "node/engine_ear.h"
#include "node/local_monitor.h"
#include "node/network.h"
#include "node/network_record.h"
#include "node/responses.h"
#include "node/seen_record.h"
#include "node/trust_bundle.h"
#include "sandbox/process/local_launcher.h"
#include "sandbox/process/process_backend.h"
#include "sandbox/sandbox.h"

namespace cordon::cli {

// What the network and the credentials did, and what happened inside, is in its record as it
// happens.
struct RunRecords {
  node::NetworkRecord& network;
  node::SeenRecord& inside;
  node::Responses& responses;
};

// Used from the loop's thread only.
class LocalSandbox {
 public:
  // All outlive it.
  LocalSandbox(const PreparedRun& run, const Context& context,
               const asio::any_io_executor& executor, sandbox::LocalLauncher& launcher,
               const RunRecords& records);
  LocalSandbox(const LocalSandbox&) = delete;
  LocalSandbox& operator=(const LocalSandbox&) = delete;

  // Makes it. What it needs for as long as it lives runs in `scope`, whose owner cancels it then.
  async::Task<std::unique_ptr<sandbox::Sandbox>> create(async::Scope& scope);

  // With what is known only once the egress runs; of use after create().
  const plan::Lowered& lowered() const noexcept { return lowered_; }

  // The sandbox has ended: all that had happened in it is recorded when this returns.
  void end_monitor();
  // After the last of `scope` has ended: takes what the network has said until then.
  void drain();

 private:
  void make_credentials(const asio::any_io_executor& executor);
  async::Task<node::SecretPlace> own_secret(const policy::Grant& grant);
  Status trust(const std::string& certificate);
  asio::awaitable<void> revoke_network(std::string rule);

  const PreparedRun& run_;
  plan::Lowered lowered_;
  const Context& context_;
  sandbox::LocalLauncher& launcher_;
  sandbox::ProcessBackend backend_;
  node::NetworkRecord& record_;
  node::Responses& responses_;
  std::optional<node::LocalMonitor> monitor_;  // one of these two, or none
  std::optional<node::EngineEar> ear_;
  std::optional<node::Network> network_;
  std::optional<node::Credentials> credentials_;
  std::optional<node::TrustBundle> bundle_;
};

}  // namespace cordon::cli
