// SPDX-License-Identifier: Apache-2.0
// Whether a release of the fleet's policy stays within a node's own settings. What it allows is met
// with theirs in any case; a number that is greater than the node's own is told to whoever wrote
// it, and not left without effect (pure).
#pragma once

#include <string>

#include "base/result.h"
#include "gate/release.h"
#include "node/settings.h"

namespace cordon::node {

// `invalid`: which number is more than which.
Status within_own_quotas(const gate::Release& release, const Settings& own);

// The same of a ceiling: its limits, its isolation, and whether it has a network. `tenant`: whose
// it is; empty: everybody's.
Status within_own_ceiling(const policy::Policy& released, const policy::Policy& own,
                          const std::string& tenant);

}  // namespace cordon::node
