// SPDX-License-Identifier: Apache-2.0
// A sandbox that lives in this node until it is told to end, its time is over, or a budget is.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "async/scope.h"
#include "async/task.h"
#include "base/clock.h"
#include "base/id.h"
#include "node/budgets.h"
#include "node/held_grant.h"
#include "node/judge_end.h"
#include "node/resident_process.h"
#include "node/watch.h"
#include "plan/lower.h"
#include "record/verdict.h"
#include "sandbox/sandbox.h"

namespace cordon::node {

using Labels = std::map<std::string, std::string>;

struct ResidentFacts {
  SandboxId id;
  std::string tenant;
  WallTime created{};
  WallTime expires{};
  Labels labels;
  std::vector<HeldGrant> grants{};  // of secrets of the tenant
  std::vector<Charge> charges{};    // in the accounts of the tokens that it was made with
};

// Used from the loop's thread only. Shared by the table and by those who wait on it.
class Resident {
 public:
  // That live, or have ended: the oldest of those that have ended are forgotten first.
  static constexpr std::size_t kMostProcesses = 1024;
  // That have ended and that the guest keeps too, for a node that comes back.
  static constexpr std::size_t kMostFinished = 64;

  // `clock` outlives it.
  Resident(const asio::any_io_executor& executor, const Clock& clock, ResidentFacts facts,
           plan::Lowered lowered, std::unique_ptr<sandbox::Sandbox> sandbox);
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  // Of one that another node had: goes on with the processes that live in it. After live() has
  // begun, and before anything is started.
  async::Task<void> adopt_processes();

  // From here to its end, which is complete when this returns: nothing of it is left, and the
  // verdict stands. Spawned once.
  asio::awaitable<void> live();

  // `exhausted`: it has too many processes. `unavailable`: it ends.
  Result<std::shared_ptr<ResidentProcess>> start(sandbox::Command command);
  std::shared_ptr<ResidentProcess> process(std::uint32_t number) const;
  std::vector<std::shared_ptr<ResidentProcess>> processes() const;

  // Told when one of its processes has begun, and when it has ended; before live().
  using ProcessTold = std::function<void(const ResidentProcess&, bool has_ended)>;
  void when_process_tells(ProcessTold act) { told_process_ = std::move(act); }

  // Asks for its end; the first reason counts.
  void end(Stop why);
  // Until its end is complete.
  asio::awaitable<void> ended();

  // From now on; `narrower` was made of what it is (plan/narrow.h).
  void narrow(plan::Lowered narrower);
  // True where its policy lets the port be tunnelled to.
  bool lets_in(std::uint16_t port) const;
  // Until it does not.
  asio::awaitable<void> until_shut(std::uint16_t port);

  // Stops everything in it. By a response of its policy that is for good: nothing is started in it
  // any more.
  void freeze();
  // What freeze() stopped goes on; before: not by a response, which is for good.
  void thaw();
  bool is_frozen() const noexcept;
  // It reaches nothing any more, by the rule at `rule`; whoever holds its network is to be told.
  void revoke_network(const std::string& rule);
  // Beside its life; before live().
  void also(asio::awaitable<void> act) { beside_.push_back(std::move(act)); }
  // A response was taken: it is not set again, by a later node either.
  void take_response(const frame::Response& taken);

  // What it uses, by its groups; of an engine that stands in front of it too.
  UseNow use_now() { return watch_.use_now(); }

  void set_expires(WallTime expires);
  void set_labels(Labels labels) { facts_.labels = std::move(labels); }

  const ResidentFacts& facts() const noexcept { return facts_; }
  const plan::Lowered& lowered() const noexcept { return lowered_; }
  sandbox::Sandbox& sandbox() noexcept { return *sandbox_; }
  bool is_ending() const noexcept { return stop_.has_value() || is_gone_; }
  // Nothing: it lives.
  const std::optional<Verdict>& verdict() const noexcept { return verdict_; }
  // What its groups counted; of use once there is a verdict.
  const frame::GroupUse& use() const noexcept { return use_; }

 private:
  asio::awaitable<bool> serve_until_told(async::Scope& scope);
  // The process that it was launched with, where it was with one.
  void follow_standby();
  asio::awaitable<void> serve_guest();
  asio::awaitable<void> keep_budgets();
  asio::awaitable<void> conclude();
  std::shared_ptr<ResidentProcess> follow(ProcessFacts facts,
                                          std::unique_ptr<sandbox::Process> process, bool is_new);
  asio::awaitable<void> begin_budgets(std::shared_ptr<ResidentProcess> process, bool is_new);
  // `is_new`: its beginning is told too.
  asio::awaitable<void> tell_of(std::shared_ptr<ResidentProcess> process, bool is_new);
  void forget_finished();
  void count_output(std::uint64_t bytes);
  void signal_all(int signal);

  asio::any_io_executor executor_;
  const Clock& clock_;
  ResidentFacts facts_;
  plan::Lowered lowered_;
  std::unique_ptr<sandbox::Sandbox> sandbox_;
  Watch watch_;
  async::Scope* scope_ = nullptr;                   // while it lives
  asio::steady_timer look_;                         // when the budgets are looked at next
  std::chrono::milliseconds pause_{plan::kSample};  // until then; longer where nothing runs
  asio::steady_timer told_;      // fires when its time is over; cancelled by end()
  asio::steady_timer ended_;     // never fires: cancelled when the verdict stands
  asio::steady_timer narrowed_;  // the same, when its policy was narrowed
  std::map<std::uint32_t, std::shared_ptr<ResidentProcess>> processes_;
  ProcessTold told_process_;
  std::vector<asio::awaitable<void>> beside_;
  std::uint64_t output_ = 0;  // of all processes that this node knew, in bytes
  std::optional<Stop> stop_;
  bool is_gone_ = false;  // its pid 1 speaks no more
  std::string failure_ = "its pid 1 has ended by itself";
  bool machine_is_full_ = false;
  std::optional<Verdict> verdict_;
  frame::GroupUse use_;
};

}  // namespace cordon::node
