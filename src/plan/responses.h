// SPDX-License-Identifier: Apache-2.0
// The responses of a policy: those of all its documents, since each may take rights away.
#pragma once

#include <vector>

#include "frame/response.h"
#include "policy/policy.h"
#include "record/enforcement.h"

namespace cordon::plan {

std::vector<frame::Response> responses_of(const policy::Policy& policy);
Mechanism response_mechanism(const std::vector<frame::Response>& responses);

// Whether it can be counted only by who sees what happens inside.
bool needs_monitor(const policy::Response& response);

}  // namespace cordon::plan
