// SPDX-License-Identifier: Apache-2.0
// The policy of a sandbox as the node sent it, checked once more: nothing here is believed.
#pragma once

#include "base/result.h"
#include "frame/egress.h"
#include "policy/policy.h"

namespace cordon::egress {

// What speaks of the network; everything else is absent. Fails where the documents are none that
// policy::check() would take.
Result<policy::Policy> policy_of(const frame::Serve& serve);

// What holds where there is no policy that can be read: nothing is reached.
policy::Policy no_network();

}  // namespace cordon::egress
