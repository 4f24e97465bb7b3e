// SPDX-License-Identifier: Apache-2.0
// cordond as a service's launcher keeps it: started under the floor's id, and again when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

// How long to wait before the next start, by how the last ones went.
class BackOff {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds kFirst{50};
  static constexpr Milliseconds kLongest{5'000};
  // Of one that could serve: its sandboxes and clients wait for the next.
  static constexpr Milliseconds kLongestAfterService{200};
  // One that served for this long has not failed to start.
  static constexpr Milliseconds kHealthy{5'000};

  // Of one that ended after `lived`. `served`: it was so far that it had spoken to us.
  Milliseconds after(Milliseconds lived, bool served);

 private:
  Milliseconds next_{kFirst};
};

struct NodeProgram {
  std::string config;  // of cordond
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

// Destroying it leaves no cordond of its own behind. One that another launcher started is nobody's
// child here: it is known by its connection alone.
class NodeKeeper {
 public:
  using Clock = std::chrono::steady_clock;

  // For one that another launcher left behind to knock: it needs no second beside it.
  static constexpr std::chrono::seconds kGrace{1};

  // `grace`: how long one that lives already may take to knock, before one is started.
  NodeKeeper(NodeProgram program, Clock::duration grace)
      : program_{std::move(program)}, due_{Clock::now() + grace} {}

  // When it is to be started, if nobody is connected until then. Nothing: it runs.
  std::optional<Clock::time_point> due() const noexcept {
    return child_ ? std::nullopt : std::optional{due_};
  }
  // Before: it is due.
  Status start();
  // Polls readable when it has ended. Before: it runs.
  const os::Fd& pidfd() const noexcept {
    return child_->pidfd();  // NOLINT(bugprone-unchecked-optional-access): it runs
  }
  bool runs() const noexcept { return child_.has_value(); }

  // Reaps it, and says how it ended.
  void bury();
  // One is connected, ours or somebody else's, beside which none is started.
  void greet(Clock::duration grace) {
    has_served_ = true;
    is_anothers_ = !child_;
    due_ = Clock::now() + grace;
  }
  // The one that was connected has gone. What becomes of ours is told by bury(); of another's,
  // nobody else starts the next.
  void part() {
    if (!is_anothers_) return;
    back_off_ = {};
    due_ = Clock::now() + BackOff::kFirst;
  }
  void ask_to_end() const;

 private:
  NodeProgram program_;
  std::optional<os::Child> child_;
  Clock::time_point started_{};
  Clock::time_point due_;
  BackOff back_off_;
  bool has_served_ = false;
  bool is_anothers_ = false;  // the one that is, or was last, connected
};

}  // namespace cordon::launcher
