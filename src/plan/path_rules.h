// SPDX-License-Identifier: Apache-2.0
// What a policy says of files, to values that are kept, and back to a policy that decides the same
// over files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "frame/path_rules.h"
#include "policy/policy.h"

namespace cordon::plan {

// `image`: the root of documents that state none; empty: the host's.
std::vector<frame::PathDocument> path_rules_of(const policy::Policy& policy,
                                               const std::string& image = {});

// `invalid`: not what path_rules_of() gives. Of anything but files it allows nothing.
Result<policy::Policy> path_policy_of(std::span<const frame::PathDocument> documents);

}  // namespace cordon::plan
