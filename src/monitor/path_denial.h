// SPDX-License-Identifier: Apache-2.0
// A call on a file that failed, judged again: only what the policy refuses is a refusal, and an
// error of the workload's own is none.
#pragma once

#include <optional>
#include <string_view>

#include "monitor/seen.h"
#include "policy/policy.h"
#include "record/denial.h"

namespace cordon::monitor {

// Nothing: the policy allows it, or its path is not known well enough to be judged.
// `workspace`: where it is inside.
std::optional<Denial> path_denial(const Seen& seen, const SeenFile& file,
                                  const policy::Policy& policy, std::string_view workspace);

// Absolute, without `.`, `..` and empty names, by its letters alone. Empty: it is not absolute.
std::string normal_path(std::string_view path);

}  // namespace cordon::monitor
