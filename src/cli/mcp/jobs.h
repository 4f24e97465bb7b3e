// SPDX-License-Identifier: Apache-2.0
// Commands that run, or ran, in sandboxes of a server: each goes on by itself, whoever waits for
// it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "cli/mcp/news.h"
#include "cli/mcp/review_layer.h"
#include "cli/mcp/sandboxes.h"
#include "mcp/server/text_cap.h"
#include "node/resident_process.h"
#include "record/denial.h"
#include "wire/requests.h"

namespace cordon::cli {

// Of each stream that is kept for the answer of its call, and of both for who follows it later.
inline constexpr std::size_t kKeptOfStream = std::size_t{4} << 20U;
inline constexpr std::size_t kKeptRecent = std::size_t{512} << 10U;

struct Job {
  std::string name;     // "p3"
  std::string sandbox;  // "s1"
  Ticks began{};
  Ticks ended{};
  mcp::server::KeptStream out{kKeptOfStream};
  mcp::server::KeptStream err{kKeptOfStream};
  mcp::server::RecentStream both{kKeptRecent};
  std::uint64_t told = 0;    // of `both`, in answers
  bool is_answered = false;  // its call was: the streams are not kept any more

  std::shared_ptr<node::ResidentProcess> process;  // once it was started
  std::shared_ptr<LivingSandbox> living;           // while it runs
  std::string not_started;                         // why it never ran; for a person
  bool is_over = false;                            // all below is known
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string ended_by;  // a limit, or Cordon; empty: it ended by itself
  std::vector<Denial> denials;
  std::optional<ChangeCounts> changed;

  bool is_cancelled = false;
  News news;

  // A signal that comes before reaches nobody.
  bool has_begun() const { return process && process->pid() != 0; }
};

struct JobOrder {
  std::string sandbox;  // resolved
  wire::StartRequest start;
  bool keeps_input = false;
};

// Used from the loop's thread only.
class Jobs {
 public:
  static constexpr std::size_t kMostRunning = 64;
  static constexpr std::size_t kMostKept = 32;  // of those that have ended

  // All outlive it.
  Jobs(Sandboxes& sandboxes, async::Scope& scope) : sandboxes_{sandboxes}, scope_{scope} {}

  // It begins at the loop's next turn. `exhausted`: too many run.
  Result<std::shared_ptr<Job>> begin(JobOrder order);
  std::shared_ptr<Job> find(const std::string& name) const;

  // Ends it with all that it started.
  void cancel(Job& job);
  void cancel_all();

  // What was refused since this was asked last, to it or to whoever shares its sandbox.
  static std::vector<Denial> take_denials(Job& job);

 private:
  asio::awaitable<void> run(std::shared_ptr<Job> job, JobOrder order);
  asio::awaitable<void> run_in(std::shared_ptr<Job> job, JobOrder order);
  asio::awaitable<void> follow(std::shared_ptr<Job> job);
  asio::awaitable<void> conclude(std::shared_ptr<Job> job, std::shared_ptr<LivingSandbox> living,
                                 bool has_ended);
  void forget_oldest();

  Sandboxes& sandboxes_;
  async::Scope& scope_;
  std::map<std::uint64_t, std::shared_ptr<Job>> jobs_;
  std::uint64_t last_ = 0;
};

}  // namespace cordon::cli
