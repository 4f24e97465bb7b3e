// SPDX-License-Identifier: Apache-2.0
// Sandboxes that run before anybody asks for them: those behind an engine, and those that begin
// with a program of their own, which take longer to start than all that a launcher does for it.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>

#include "launcher/expected_plans.h"
#include "launcher/floor.h"
#include "launcher/sandbox.h"
#include "os/steering.h"

namespace cordon::launcher {

struct Workshop;

// Nothing has run in it but cordon-init, and what its plan begins with. What wants out of its
// network finds nobody until the sockets are with an egress.
struct Spare {
  Sandbox sandbox;
  os::SteeredSockets sockets;  // empty where it has no network
};

// For plans that came twice, each used once.
class Spares {
 public:
  using Clock = std::chrono::steady_clock;

  // `ahead`: how many to hold; 0: none.
  explicit Spares(unsigned ahead) : ahead_{ahead} {}

  // One that runs as such a plan, its way out held by the egress of the plan's tenant. Before: the
  // plan is slow to begin.
  std::optional<Sandbox> take(const JudgedPlan& plan, Workshop& workshop);

  // For one whose ids another sandbox needs. False: there is none.
  bool give_up_one();

  unsigned ahead() const noexcept { return ahead_; }
  // Whether there is something to do when nobody has come for a while; false after a failure, until
  // the next take.
  bool wants_more() const noexcept { return to_begin() != nullptr; }
  void begin_one(Workshop& workshop);

  // When one has waited too long: memory is worth more than what nobody came for.
  std::optional<Clock::time_point> due() const noexcept;
  void drop_old(Clock::time_point now);

 private:
  struct Waiting {
    Spare spare;
    std::shared_ptr<const Known> plan;
    Clock::time_point since;
    std::chrono::nanoseconds clock;  // how far the time of day was from `Clock`'s then
  };
  std::shared_ptr<const Known> to_begin() const noexcept;

  unsigned ahead_;
  ExpectedPlans expected_;
  std::list<Waiting> waiting_;  // the oldest first
  bool failed_ = false;
};

}  // namespace cordon::launcher
