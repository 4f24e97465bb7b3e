// SPDX-License-Identifier: Apache-2.0
// What is refused before anything is built: a host that is too weak, a tier or a key that this
// version does not hold.
#pragma once

#include "plan/request.h"

namespace cordon::plan {

void admit(const Request& request);

// True when a document states `mode = "none"`, when none grants a network, or when the caller gave
// it up: rules that only bound the network then hold by themselves. A document that merely does not
// speak does not turn another's network off without a word.
bool is_offline(const Request& request);

// True when the policy would grant a network that the caller gave up.
bool gives_up_network(const Request& request);

}  // namespace cordon::plan
