// SPDX-License-Identifier: Apache-2.0
// Looks at a running sandbox from outside and says when a budget is used up.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "frame/launch_plan.h"
#include "node/judge_end.h"
#include "node/tree_size.h"
#include "os/cgroup_gauges.h"
#include "plan/limits.h"

namespace cordon::node {

// 0: no group counts it.
struct UseNow {
  std::uint64_t memory = 0;  // bytes
  std::chrono::microseconds cpu{0};
};

class Watch {
 public:
  // `groups`: directories of the sandbox's groups; `pid`: of its pid 1 on this host.
  Watch(const frame::LaunchPlan& plan, const plan::Budgets& budgets,
        std::vector<std::string> groups, std::uint32_t pid);

  // True when there is anything to look at: a run without such budgets costs nothing.
  bool is_needed() const noexcept;

  // What an engine has used before the first program runs is none of the budget. Until then no
  // processor time of one is judged; only the first call counts. `is_new`: it was launched by us;
  // of one that an earlier node had, all counts.
  void begin(bool is_new);
  bool has_begun() const noexcept { return has_begun_; }

  // One look. A Stop when a budget is used up.
  std::optional<Stop> look();

  // True when nothing in it has used the processor between the last two looks: the next may wait
  // longer. Never without groups.
  bool rests() const noexcept { return rests_ && !counting_; }

  UseNow use_now();

  // "python3 pid 7": who had most memory, as of the last look near a limit.
  const std::string& largest() const noexcept { return largest_; }

 private:
  std::optional<Stop> look_at_workspace();
  std::optional<Stop> look_at_groups();
  std::optional<Stop> look_at_tree();
  std::chrono::microseconds cpu_so_far();
  std::optional<Stop> judge_cpu(std::chrono::microseconds cpu) const;
  std::optional<Stop> judge_pids(std::uint64_t count);

  const plan::Budgets& budgets_;
  os::CgroupGauges gauges_;
  std::uint32_t pid_;
  bool names_ = true;  // a process of the host is one of the sandbox
  bool grouped_;
  bool rests_ = false;
  bool has_begun_ = true;  // nothing is judged of an engine that has not
  std::chrono::microseconds cpu_of_engine_{0};
  std::optional<std::uint64_t> memory_limit_;  // held by a group
  std::optional<std::uint64_t> pids_limit_;
  // Since when no further process could be made.
  std::optional<std::chrono::steady_clock::time_point> at_limit_since_;
  std::uint64_t refused_before_ = 0;
  std::chrono::microseconds cpu_before_{0};
  std::string largest_;
  std::optional<TreeSize> workspace_;  // where its growth is a budget
  std::chrono::steady_clock::time_point next_count_{};
  bool counting_ = false;
};

}  // namespace cordon::node
