// SPDX-License-Identifier: Apache-2.0
#include "node/watch.h"

#include <utility>

#include <fmt/format.h>

#include "os/process_tree.h"

namespace cordon::node {
namespace {

// A build that meets its limit once goes on with what it has; a fork bomb stays there. Who asks for
// more at every look for so long is one. Time, not looks: beside a fork bomb these take long.
constexpr std::chrono::milliseconds kStubborn{250};

// Of each look, for counting the workspace.
constexpr std::chrono::milliseconds kSlice{10};

// Less processor time than this between two looks is rest: pid 1 answers a question, say.
constexpr std::chrono::microseconds kRest{500};

std::string name_of(const os::TreeUse& tree) {
  if (tree.largest.empty()) return {};
  return fmt::format("{} pid {}", tree.largest, tree.largest_pid);
}

}  // namespace

Watch::Watch(const frame::LaunchPlan& plan, const plan::Budgets& budgets,
             std::vector<std::string> groups, std::uint32_t pid)
    : budgets_{budgets}, gauges_{std::move(groups)}, pid_{pid}, grouped_{plan.groups} {
  // What an engine is made of tells nothing of what runs behind it.
  names_ = plan.engine == frame::Engine::none;
  has_begun_ = names_;
  if (grouped_ && names_) {
    memory_limit_ = plan.limits.memory;
    pids_limit_ = plan.limits.pids;
  } else if (plan.setup.fences.limits.processes > 0) {
    pids_limit_ = plan.setup.fences.limits.processes;
  }
  if (budgets_.workspace) {
    const bool review = plan.workspace.kind == frame::WorkspaceKind::review;
    workspace_.emplace(review ? plan.workspace.state + "/upper" : plan.workspace.source);
  }
}

bool Watch::is_needed() const noexcept {
  return budgets_.cpu || budgets_.memory || memory_limit_ || pids_limit_ || workspace_;
}

std::chrono::microseconds Watch::cpu_so_far() {
  if (grouped_) return gauges_.cpu().value_or(std::chrono::microseconds{0});
  return os::measure_tree(static_cast<pid_t>(pid_), os::Measure::counts).cpu;
}

void Watch::begin(bool is_new) {
  if (std::exchange(has_begun_, true) || !budgets_.cpu) return;
  if (is_new) cpu_of_engine_ = cpu_so_far();
}

std::optional<Stop> Watch::judge_cpu(std::chrono::microseconds cpu) const {
  cpu -= cpu_of_engine_;
  if (!budgets_.cpu || !has_begun_ || cpu < *budgets_.cpu) return std::nullopt;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(cpu).count();
  return Stop{Ending::cpu_time,
              static_cast<std::uint64_t>(budgets_.cpu->count()),
              static_cast<std::uint64_t>(seconds),
              {}};
}

// Of one that keeps asking for more processes than it may have.
std::optional<Stop> Watch::judge_pids(std::uint64_t count) {
  if (!pids_limit_ || count + 1 < *pids_limit_) {
    at_limit_since_.reset();
    return std::nullopt;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!at_limit_since_) at_limit_since_ = now;
  if (now - *at_limit_since_ < kStubborn) return std::nullopt;
  return Stop{Ending::pids, *pids_limit_, count, {}};
}

// In slices: a large tree must not keep the program's output waiting.
std::optional<Stop> Watch::look_at_workspace() {
  const auto now = std::chrono::steady_clock::now();
  if (!workspace_ || (!counting_ && now < next_count_)) return std::nullopt;
  if (!counting_) next_count_ = now + plan::kWorkspaceSample;
  counting_ = !workspace_->step(now + kSlice);
  if (counting_) return std::nullopt;
  const std::uint64_t before = budgets_.workspace_before;
  const std::uint64_t grown = workspace_->total() - std::min(workspace_->total(), before);
  const std::uint64_t limit = budgets_.workspace.value_or(0);
  if (grown <= limit) return std::nullopt;
  return Stop{Ending::disk, limit, grown, {}};
}

std::optional<Stop> Watch::look_at_groups() {
  const auto cpu = gauges_.cpu().value_or(std::chrono::microseconds{0});
  rests_ = cpu < cpu_before_ + kRest;
  cpu_before_ = cpu;
  if (auto over = judge_cpu(cpu)) return over;
  // The walk through /proc costs more than the groups' files: only where they do not tell enough.
  if (memory_limit_ && gauges_.memory_bytes().value_or(0) > *memory_limit_ / 2) {
    largest_ = name_of(os::measure_tree(static_cast<pid_t>(pid_), os::Measure::memory));
  }
  if (!pids_limit_) return std::nullopt;
  // A group counts refusals: who got one since the last look asks for more than it may have.
  const std::uint64_t refused = gauges_.pids_refused().value_or(0);
  const bool is_pressed = refused > refused_before_;
  refused_before_ = refused;
  return judge_pids(is_pressed ? gauges_.pids().value_or(0) : 0);
}

// Without groups: who has all it may have and rests is content, and a fork bomb is busy.
std::optional<Stop> Watch::look_at_tree() {
  const os::TreeUse tree = os::measure_tree(
      static_cast<pid_t>(pid_), budgets_.memory ? os::Measure::memory : os::Measure::counts);
  largest_ = names_ ? name_of(tree) : std::string{};
  const bool is_pressed = tree.cpu >= cpu_before_ + plan::kSample / 5;
  cpu_before_ = tree.cpu;
  if (auto over = judge_cpu(tree.cpu)) return over;
  if (budgets_.memory && tree.memory > *budgets_.memory) {
    return Stop{Ending::memory, *budgets_.memory, tree.memory, largest_};
  }
  return judge_pids(is_pressed && names_ ? tree.threads : 0);
}

std::optional<Stop> Watch::look() {
  if (auto full = look_at_workspace()) return full;
  return grouped_ ? look_at_groups() : look_at_tree();
}

UseNow Watch::use_now() {
  return {.memory = gauges_.memory_bytes().value_or(0),
          .cpu = gauges_.cpu().value_or(std::chrono::microseconds{0})};
}

}  // namespace cordon::node
