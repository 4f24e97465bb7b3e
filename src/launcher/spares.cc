// SPDX-License-Identifier: Apache-2.0
#include "launcher/spares.h"

#include <algorithm>
#include <variant>

#include "base/log.h"
#include "launcher/launch.h"
#include "launcher/trial_sandbox.h"

namespace cordon::launcher {
namespace {

using namespace std::chrono_literals;

constexpr Spares::Clock::duration kLongestWait = 5min;
// A machine keeps the time by itself. Where the host's was set meanwhile, or the host has slept, it
// would be wrong.
constexpr std::chrono::nanoseconds kMostDrift = 1s;

std::chrono::nanoseconds clock_distance() {
  return std::chrono::system_clock::now().time_since_epoch() -
         std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

std::optional<Sandbox> Spares::take(const JudgedPlan& plan, Workshop& workshop) {
  if (ahead_ == 0) return std::nullopt;
  failed_ = false;
  const auto known = expected_.note(plan, workshop.sources);
  std::erase_if(waiting_, [&](const Waiting& each) { return !expected_.holds(each.plan.get()); });
  if (!known) return std::nullopt;
  for (;;) {
    const auto found = std::ranges::find(waiting_, known, &Waiting::plan);
    if (found == waiting_.end()) {
      // All that wait are for others, who come less often.
      if (waiting_.size() >= ahead_) waiting_.pop_front();
      return std::nullopt;
    }
    Waiting taken = std::move(*found);
    waiting_.erase(found);
    Sandbox& sandbox = taken.spare.sandbox;
    const auto drift = std::chrono::abs(clock_distance() - taken.clock);
    if (!sandbox.init.is_alive() || drift > kMostDrift) continue;
    if (plan->network) {
      const Status held =
          workshop.egresses->add(plan->tenant, plan->id, std::move(taken.spare.sockets));
      // As it would be for one that is made now, which says why.
      if (!held) return std::nullopt;
      sandbox.network.emplace(*workshop.egresses, plan->id);
    }
    return std::move(sandbox);
  }
}

bool Spares::give_up_one() {
  if (waiting_.empty()) return false;
  waiting_.pop_front();
  return true;
}

std::shared_ptr<const Known> Spares::to_begin() const noexcept {
  if (failed_ || waiting_.size() >= ahead_) return nullptr;
  return expected_.next(ahead_, [&](const Known* known) {
    return static_cast<std::size_t>(std::ranges::count_if(
        waiting_, [&](const Waiting& each) { return each.plan.get() == known; }));
  });
}

void Spares::begin_one(Workshop& workshop) {
  const auto plan = to_begin();
  if (!plan) return;
  // Under an id of its own: that of the plan it was known by is somebody's.
  auto judged = judge_under_new_id(workshop, *plan->plan);
  auto begun =
      judged
          ? launch_ahead(*judged, workshop)
          : std::variant<Spare, LaunchFailure>{LaunchFailure{"prepare", std::move(judged).error()}};
  if (const auto* failure = std::get_if<LaunchFailure>(&begun)) {
    failed_ = true;
    expected_.forget(plan.get());
    log(LogLevel::warning, "launcher", "no sandbox started ahead",
        {{"why", std::string_view{failure->error.text()}}});
    return;
  }
  waiting_.push_back({.spare = std::get<Spare>(std::move(begun)),
                      .plan = plan,
                      .since = Clock::now(),
                      .clock = clock_distance()});
}

std::optional<Spares::Clock::time_point> Spares::due() const noexcept {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front().since + kLongestWait;
}

void Spares::drop_old(Clock::time_point now) {
  while (!waiting_.empty() && waiting_.front().since + kLongestWait <= now) {
    expected_.forget(waiting_.front().plan.get());
    waiting_.pop_front();
  }
}

}  // namespace cordon::launcher
