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

  // Whether a name can be of one that is, or was, here: ours, or of one that came.
  bool knows(const SandboxId& id) const;

  // residents_leave.cc: one goes on at another node. `move` names the attempt. While it leaves, it
  // is held (resident.h); where nobody asks about it for kSilence it stays, and all goes on.
  static constexpr std::chrono::seconds kSilence{60};
  struct Doors {
    std::string services;
    std::string traffic;
  };
  struct Left {
    std::string traveller;           // for arrive() (papers.h)
    std::vector<std::string> paths;  // directories of its own disk
  };
  // `exists`: another move is under way. `denied`: it cannot go on elsewhere; why stands there.
  async::Task<Left> leave(std::shared_ptr<Resident> resident, std::string move, Doors doors);
  // It is as it was when it left; kSilence begins anew. `not_found`: it is not leaving by this
  // move. `exists`: it has become another, and stays.
  Result<std::shared_ptr<Resident>> leaving(const SandboxId& id, std::string_view move);
  // All goes on here. One that is not leaving by this move stays as it is.
  void stay(const SandboxId& id, std::string_view move);
  // From here on it is never ours again: it ends with the reason `moved`. Done before: well.
  // `not_found`, `exists`: as leaving(); it has not left, and by this move never will.
  async::Task<void> depart(SandboxId id, std::string move, std::string to);

  // residents_arrive.cc: one that another node had. It is found by nobody until it is settled, and
  // ends by itself where nobody asks about it for kSilence; one that is ready, for kReady.
  static constexpr std::chrono::minutes kReady{10};
  struct ArriveOrder {
    std::string sandbox;  // whom it is about, by who asked the other node
    std::string traveller;
    std::string move;
    std::optional<frame::Start> standby{};  // what runs in it where something ran there
    std::optional<wire::Unit> unit{};
  };
  async::Task<void> arrive(ArriveOrder order, WhyNotAdmitted& why);
  // `not_found`: none arrives by this move; below too.
  Result<std::shared_ptr<Resident>> arriving(const SandboxId& id, std::string_view move);
  // It is whole, and survives a death of this daemon.
  async::Task<void> ready(SandboxId id, std::string move);
  // It is found from here on. Done before: well.
  async::Task<void> settle(SandboxId id, std::string move);
  // It never came. Of one that is settled nothing is done.
  async::Task<void> turn_back(SandboxId id, std::string move);
  bool is_arriving(const SandboxId& id) const { return arrivals_.contains(id.text()); }

  // A secret of the tenant is about to be deleted: none that lives has a grant of it any more, when
  // this returns well under no later node either.
  async::Task<void> forget_secret(std::string tenant, std::string name);

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
    std::optional<WallTime> began{};            // elsewhere, of one that arrives
  };
  // Who it is for, and by what.
  struct Claimed {
    std::string tenant;
    Purpose purpose = Purpose::use;
    std::optional<wire::Unit> unit;
  };
  Result<Prepared> prepare(const Claimed& claimed, wire::CreateRequest request,
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
  struct Belongings;
  struct Departure {
    std::string move;
    std::uint64_t changes = 0;  // of the resident, when it was told
    std::size_t grants = 0;     // that it had then
    Ticks until{};
  };
  struct Arrival {
    std::shared_ptr<Resident> resident;
    std::string move;
    std::string verdict{};  // by which it left here before; empty: it never was here
    Ticks until{};
  };
  Left told_of(Resident& resident, Doors doors);
  std::size_t grants_of(const Resident& resident) const;
  asio::awaitable<void> await_silence(std::string id, std::string move);
  async::Task<void> depart_now(SandboxId id, std::string move, std::string to);
  async::Task<void> departed_before(SandboxId id, std::string to) const;
  async::Task<void> arrive_now(Prepared prepared, ResidentFacts facts);
  async::Task<std::string> write_arriving(const ResidentFacts& facts, std::string policy);
  asio::awaitable<void> make_way(std::string id);
  asio::awaitable<void> await_settling(std::string id, std::string move);
  asio::awaitable<void> write_later(std::shared_ptr<Resident> resident);
  asio::awaitable<void> forget_arrival(std::string id, std::string verdict);
  // It lives, or is on its way to.
  void take_in(std::shared_ptr<Resident> resident, Belongings belongings);
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

  std::unique_ptr<SecretsShare> share_secrets(const std::string& tenant, const SandboxId& id,
                                              GrantedSecrets& granted, NetworkShare& network);
  asio::awaitable<void> count_births(std::shared_ptr<Resident> resident, Responses* responses);
  asio::awaitable<void> host(std::shared_ptr<Resident> resident, Belongings belongings);
  async::Task<void> write_change(std::shared_ptr<Resident> resident, bool has_narrowed,
                                 journal::Durability durability = journal::Durability::process);

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
  std::map<std::string, Departure, std::less<>> departures_;
  std::map<std::string, Arrival, std::less<>> arrivals_;
  std::deque<std::string> guests_;  // that came from other nodes and have ended, the latest
  NodeCounts counts_;
};

}  // namespace cordon::node
