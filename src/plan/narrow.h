// SPDX-License-Identifier: Apache-2.0
// What can be taken from a sandbox that lives already.
#pragma once

#include "base/result.h"
#include "plan/lower.h"
#include "policy/document.h"
#include "policy/problem.h"

namespace cordon::plan {

// So often can one sandbox be narrowed: each time is one more document that its egress asks.
inline constexpr std::size_t kMostNarrowings = 32;

// `lowered` with whom it reaches, what reaches it and its budgets as far as `by` allows them too,
// and never further; what `by` does not speak of stays as it was. Pure.
//
// `invalid`: `by` names something that only a launch can set, or is refused as a policy; all of it
// is in `problems`, and nothing has changed. `exhausted`: narrowed too often, or by too much text.
Result<Lowered> narrow(const Lowered& lowered, policy::PolicyDocument by,
                       policy::Problems& problems);

// The same network, of which nothing may be reached any more, by the rule at `rule`.
frame::Serve without_network(frame::Serve serve, const std::string& rule);

}  // namespace cordon::plan
