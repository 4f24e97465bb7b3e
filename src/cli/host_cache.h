// SPDX-License-Identifier: Apache-2.0
// The host's facts, probed once for each boot, kernel, program and place in the cgroup tree.
#pragma once

#include "cli/verbs.h"
#include "record/host_facts.h"
#include "record/isolation.h"

namespace cordon::cli {

// From the cache ($XDG_CACHE_HOME/cordon or ~/.cache/cordon, only if it is the caller's own), else
// probed and remembered. A fact that has become untrue since costs a refused launch, never a weaker
// one: each step of a launch fails closed by itself.
HostFacts known_host_facts(const Context& context);

// The same with what is known of the engine behind that wall, which is tried the first time that
// somebody asks.
HostFacts with_engine(HostFacts host, Isolation isolation, const Context& context);

}  // namespace cordon::cli
