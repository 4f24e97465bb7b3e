// SPDX-License-Identifier: Apache-2.0
// The second descent, from pid 1 to a spawner: whatever the spawner execs inherits all of it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "frame/fences.h"
#include "guest/filter_profile.h"
#include "os/fd.h"

namespace cordon::guest {

struct Descent {
  const frame::Fences& fences;
  FilterLookup find_filter;
  // The workload has pid 1's own id: then nothing but a scope of its own keeps its signals from it.
  bool one_id = false;
  bool has_oom_score = false;  // from pid 1, by the fork
  // Where whoever answers the calls of a `notify` filter gets its listener; nothing: there is none.
  const os::Fd* witness = nullptr;
};

struct Step {
  std::string_view name;
  Status (*take)(const Descent& descent);
};

Status raise_oom_score(const Descent& descent);
Status become_workload_id(const Descent& descent);
Status set_limits(const Descent& descent);
Status keep_granted(const Descent& descent);
Status close_to_tracers(const Descent& descent);
Status apply_landlock(const Descent& descent);
Status load_workload_filter(const Descent& descent);

// Each line gives up what the lines below no longer need.
inline constexpr std::array kToSpawner{
    Step{"oom_score", raise_oom_score},      // needs /proc, and the rights that keep tracers away
    Step{"identity", become_workload_id},    // the last step that needs CAP_SETUID and CAP_SETGID
    Step{"limits", set_limits},              // of the new id
    Step{"capabilities", keep_granted},      // none by default
    Step{"not_dumpable", close_to_tracers},  // the change of id has set it anew
    Step{"landlock", apply_landlock},        // opens paths, with the workload's rights
    Step{"filter", load_workload_filter},    // nothing but serving may follow
};

// So many of them, from the first, look at no file of the plan's: they are taken before its tree
// stands; the first, before there is a plan.
inline constexpr std::size_t kBeforeFences = 1;
inline constexpr std::size_t kBeforeTree = 5;

// Behind the usual fences, of a plan that has no others: a filter leaves it to everybody to lower
// his own limits.
inline constexpr std::array kToOwnLimits{Step{"limits", set_limits}};

struct StepFailure {
  std::string_view step;
  int error_number = 0;
};

// Takes the steps, in order; stops at the first that fails. A process that gets an answer other
// than nothing must end.
std::optional<StepFailure> descend(std::span<const Step> steps, const Descent& descent);

// Landlock's file rights behind a use of a path.
std::uint64_t rights_of(frame::PathUse use) noexcept;

}  // namespace cordon::guest
