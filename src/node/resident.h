// SPDX-License-Identifier: Apache-2.0
// A sandbox that lives in this node until it is told to end, its time is over, or a budget is.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
#include "node/papers.h"
#include "node/resident_process.h"
#include "node/watch.h"
#include "plan/lower.h"
#include "record/verdict.h"
#include "sandbox/sandbox.h"

namespace cordon::node {

using Labels = std::map<std::string, std::string>;

// A label of ours: there, the sandbox is paused. Nobody gives or takes it by naming it.
inline constexpr std::string_view kPausedLabel = "e2b.paused";

struct ResidentFacts {
  SandboxId id;
  std::string tenant;
  WallTime created{};
  WallTime expires{};
  Labels labels;
  std::vector<HeldGrant> grants{};  // of secrets of the tenant
  std::vector<Charge> charges{};    // in the accounts of the tokens that it was made with
  Papers papers{};
  // When it expires by the clock that never jumps, where that is known; else reckoned when it
  // lives.
  std::optional<Ticks> until{};
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

  // `exhausted`: it has too many processes. `unavailable`: it ends. `exists`: it is paused.
  // `denied`: it is frozen, or its policy has no such process.
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

  // Stops everything in it, whoever started it. By a response of its policy that is for good.
  void freeze() { sandbox_->stand_still(); }
  // What freeze() stopped goes on; not by a response, which is for good.
  void thaw();
  // By a response.
  bool is_frozen() const noexcept;
  // By its tenant, as its label says.
  bool is_paused() const { return facts_.labels.contains(std::string{kPausedLabel}); }
  // Of one that another node had, which may have died between writing and doing: once there is
  // somebody who hears it.
  void stand_as_written();
  // It reaches nothing any more, by the rule at `rule`; whoever holds its network is to be told.
  void revoke_network(const std::string& rule);
  // Beside its life; before live().
  void also(asio::awaitable<void> act) { beside_.push_back(std::move(act)); }
  // A response was taken: it is not set again, by a later node either.
  void take_response(const frame::Response& taken);

  // It is about to leave: nothing of it changes from here on, and what runs in it stands still.
  // `unavailable`: its files are being written, and go on being; it is not held then.
  async::Task<void> hold();
  // It stays: all goes on.
  void release();
  bool is_held() const noexcept { return is_held_; }
  // `unavailable`: it is held.
  Status may_change() const;

  // One change of its files that is under way.
  class FileChange {
   public:
    explicit FileChange(int& count) : count_{&count} { ++*count_; }
    FileChange(FileChange&& other) noexcept : count_{std::exchange(other.count_, nullptr)} {}
    FileChange& operator=(FileChange&&) = delete;
    ~FileChange() {
      if (count_ != nullptr) --*count_;
    }

   private:
    int* count_;
  };
  // Before: it outlives what this gives. `unavailable`: it is held.
  Result<FileChange> begin_file_change();

  // How often it became another than it was: narrowed, answered to, given another end or labels.
  std::uint64_t changes() const noexcept { return changes_; }
  // Here and at nodes before.
  Spent spent();
  // How much it has sent to the network, here; nothing: nobody counts any more.
  void count_sent(std::function<std::uint64_t()> count) { count_sent_ = std::move(count); }
  Papers& papers() noexcept { return facts_.papers; }

  // What it uses, by its groups; of an engine that stands in front of it too.
  UseNow use_now() { return watch_.use_now(); }

  void set_expires(WallTime expires);
  // Of a secret that is gone. False: it has none.
  bool drop_grants(const std::string& secret);
  void set_labels(Labels labels) {
    ++changes_;
    facts_.labels = std::move(labels);
  }

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

  // In so much time that passes, whatever the clock of the wall does meanwhile.
  Ticks ticks_at(WallTime expires) const {
    return clock_.ticks() + std::chrono::duration_cast<Ticks::duration>(expires - clock_.wall());
  }

  asio::any_io_executor executor_;
  const Clock& clock_;
  ResidentFacts facts_;
  Ticks until_;
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
  std::function<std::uint64_t()> count_sent_;
  bool is_held_ = false;
  int file_changes_ = 0;  // under way
  std::uint64_t changes_ = 0;
  std::optional<Verdict> verdict_;
  frame::GroupUse use_;
};

}  // namespace cordon::node
