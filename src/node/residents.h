// SPDX-License-Identifier: Apache-2.0
// All sandboxes of a node: made, found, listed, ended; every step recorded before it takes effect.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "audit/log.h"
#include "base/clock.h"
#include "journal/journal.h"
#include "node/admission.h"
#include "node/audit_disk.h"
#include "node/brokers.h"
#include "node/budgets.h"
#include "node/census.h"
#include "node/ended_sandbox.h"
#include "node/events.h"
#include "node/monitor.h"
#include "node/networks.h"
#include "node/quotas.h"
#include "node/resident.h"
#include "node/run.h"
#include "node/sandbox_ids.h"
#include "sandbox/sandbox.h"
#include "wire/unit.h"

namespace cordon::node {

struct CreateOrder {
  std::string tenant;
  wire::CreateRequest request;
  std::string key;  // of idempotency; empty: none
  // Runs in it from its start on, before anything is asked of it.
  std::optional<frame::Start> standby{};
  Purpose purpose = Purpose::use;
  journal::Digest digest{};          // of the whole request
  std::optional<wire::Unit> unit{};  // of the tenant's quota of the fleet
};

// What a living sandbox is to be from now on. Absent: as it was.
struct Change {
  std::optional<WallTime> expires;
  std::optional<Labels> labels;
  std::optional<policy::PolicyDocument> policy;  // what it is narrowed by
};

struct NodeCounts {
  std::uint64_t created = 0;
  std::uint64_t runs = 0;
  std::uint64_t refused = 0;  // creates and runs
  std::uint64_t failed = 0;   // by us
  std::uint64_t ended = 0;
};

// Of a run that its caller may leave: it outlives the caller, and ends the run soon.
class StoppableFace : public RunFace {
 public:
  // until_stopped() returns.
  virtual void stop() = 0;
};

// Used from the loop's thread only. A caller that is cancelled leaves nothing behind: what it asked
// for is made or run to its end all the same, and then ended.
class Residents {
 public:
  // Whose ends could not be written.
  static constexpr std::size_t kMostEnded = 1'000;

  // All outlive it.
  struct Parts {
    asio::any_io_executor executor;
    const Clock& clock;
    sandbox::Backend& backend;
    journal::Journal& journal;
    audit::Log& log;
    AuditDisk& disk;
    const SandboxIds& ids;
    const Admission& admission;
    Quotas& quotas;
    Budgets& budgets;
    Room& room;
    Census& census;
    Networks& networks;
    Brokers& brokers;
    Events& events;
    Monitor& monitor;
    std::string state;  // the node's own directory
  };
  explicit Residents(Parts parts) : parts_{std::move(parts)} {}
  Residents(const Residents&) = delete;
  Residents& operator=(const Residents&) = delete;

  // Its sandboxes live in `scope`, which ends after all calls.
  void live_in(async::Scope& scope) { scope_ = &scope; }

  // A sandbox that lives, or the one that an earlier request with the same key has made.
  // `exists`: the key was used for another request, or its request is still under way.
  async::Task<std::shared_ptr<Resident>> create(CreateOrder order,
                                                const token::Authority& authority,
                                                WhyNotAdmitted& why);

  // One command in a sandbox of its own, which is gone when this returns.
  struct RunOrder {
    std::string tenant;
    wire::RunRequest request;
    std::optional<wire::Unit> unit{};
  };
  struct Ran {
    SandboxId id;
    RunOutcome outcome;
    Enforcement enforcement;
  };
  async::Task<Ran> run(RunOrder order, const token::Authority& authority,
                       std::shared_ptr<StoppableFace> face, WhyNotAdmitted& why);

  // One that an earlier node had made, which goes on.
  async::Task<void> take_over(ResidentFacts facts, plan::Lowered lowered,
                              std::unique_ptr<sandbox::Sandbox> sandbox);

  std::shared_ptr<Resident> find(const SandboxId& id) const;
  // From the journal, which keeps them for a while. Nothing: there is none.
  async::Task<std::optional<EndedSandbox>> find_ended(SandboxId id) const;

  // In the order of their ids, behind `after`, at most `most` of those that `accept` takes.
  std::vector<std::shared_ptr<Resident>> list(
      std::string_view after, std::size_t most,
      const std::function<bool(const Resident&)>& accept) const;

  // Until it has ended.
  async::Task<void> end(std::shared_ptr<Resident> resident, Stop why);
  // Holds from here on, also where it could not be written, which is the Error then; but for what
  // `why` tells of, which changes nothing. When this returns well every new connection is judged by
  // the narrower policy, and what it does not allow is closed.
  async::Task<void> change(std::shared_ptr<Resident> resident, Change change, WhyNotAdmitted& why);

  std::size_t size() const noexcept { return living_.size(); }
  const NodeCounts& counts() const noexcept { return counts_; }

 private:
  struct Prepared {
    SandboxId id;
    std::string tenant;
    Admitted admitted;
    Room::Place place;
    Census::Entry entry;
    Quotas::Share share;
    Budgets::Share budget;
    std::unique_ptr<Responses> responses{};     // nothing: its policy has none
    std::unique_ptr<NetworkShare> network{};    // nothing: it has none
    std::unique_ptr<SecretsShare> secrets{};    // the same; its uses are recorded with the network
    std::unique_ptr<MonitorShare> monitored{};  // nothing: nothing of it is seen
  };
  // Who it is for, and by what.
  struct Claimed {
    std::string tenant;
    Purpose purpose = Purpose::use;
    std::optional<wire::Unit> unit;
  };
  Result<Prepared> prepare(Claimed claimed, wire::CreateRequest request,
                           const token::Authority& authority, WhyNotAdmitted& why);
  async::Task<std::optional<journal::Claim>> write_making(const ResidentFacts& facts,
                                                          const plan::Lowered& lowered,
                                                          const CreateOrder& order);
  Result<std::shared_ptr<Resident>> claimed_before(const journal::Claim& claim,
                                                   const journal::Digest& digest) const;
  async::Task<std::optional<std::shared_ptr<Resident>>> came_back(const CreateOrder& order,
                                                                  WhyNotAdmitted& why);
  async::Task<void> refuse_key(const CreateOrder& order);
  async::Task<std::shared_ptr<Resident>> make(CreateOrder order, Prepared prepared,
                                              ResidentFacts facts,
                                              std::shared_ptr<bool> is_unwanted);
  async::Task<Ran> run_prepared(Prepared prepared, wire::StartRequest start,
                                std::shared_ptr<StoppableFace> face);
  void count_failure(const Error& error);
  async::Task<void> record_start(const audit::Subject& subject, const plan::Lowered& lowered);
  // The network first: nothing inside ever runs before it is policed.
  async::Task<std::unique_ptr<sandbox::Sandbox>> launch(Prepared& prepared);
  // What a sandbox has beside itself, until its end.
  struct Belongings {
    Room::Place place;
    Census::Entry entry;
    Quotas::Share share;
    Budgets::Share budget;
    std::unique_ptr<Responses> responses;  // outlives those that count
    std::unique_ptr<NetworkShare> network;
    std::unique_ptr<SecretsShare> secrets;
    std::unique_ptr<MonitorShare> monitored;
  };
  std::unique_ptr<Responses> responses_of(const plan::Lowered& lowered, const SandboxId& id,
                                          const std::string& tenant);
  // What is due is done to this one, and written.
  void respond_by(Responses& responses, const std::shared_ptr<Resident>& resident);
  asio::awaitable<void> write_response(std::shared_ptr<Resident> resident);
  asio::awaitable<void> revoke_network(frame::Serve serve, std::string tenant);

  async::Task<std::unique_ptr<SecretsShare>> share_secrets(const std::string& tenant,
                                                           const SandboxId& id,
                                                           GrantedSecrets granted,
                                                           NetworkShare& network);
  asio::awaitable<void> count_births(std::shared_ptr<Resident> resident, Responses* responses);
  asio::awaitable<void> host(std::shared_ptr<Resident> resident, Belongings belongings);
  async::Task<void> write_change(std::shared_ptr<Resident> resident, bool has_narrowed);

  // From its beginning on.
  void tell(const SandboxId& id, const std::string& tenant, Happening what) {
    parts_.events.tell(tenant, id.text(), std::move(what));
  }
  void tell_end(const SandboxId& id, const std::string& tenant, const Verdict& verdict);
  void tell_of_processes(Resident& resident);
  // Tells of refusals that it sees; `share` may be none.
  void tell_of_refusals(const std::unique_ptr<MonitorShare>& share, const SandboxId& id,
                        const std::string& tenant);
  std::unique_ptr<NetworkShare> network_of(const plan::Lowered& lowered, const SandboxId& id,
                                           const std::string& tenant);

  Parts parts_;
  async::Scope* scope_ = nullptr;
  std::map<std::string, std::shared_ptr<Resident>, std::less<>> living_;
  std::map<std::string, EndedSandbox, std::less<>> ended_;  // until they are written
  NodeCounts counts_;
};

}  // namespace cordon::node
