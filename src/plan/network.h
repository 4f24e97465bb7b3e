// SPDX-License-Identifier: Apache-2.0
// What of a policy concerns the network, as cordon-egress is told it.
#pragma once

#include <string>

#include "frame/egress.h"
#include "policy/policy.h"

namespace cordon::plan {

// Every document goes over with the places of its rules, so that a refusal there names the same
// line as one here. Where a credential comes from does not go with it.
frame::Serve serve_of(const policy::Policy& policy, std::string id);

}  // namespace cordon::plan
