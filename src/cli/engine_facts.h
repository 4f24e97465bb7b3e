// SPDX-License-Identifier: Apache-2.0
// Whether gVisor works on this machine: tried when it is asked for, because that starts one.
#pragma once

#include "record/host_facts.h"

namespace cordon::cli {

// Fills in the facts about it, by a trial of a launcher's. Before: the other facts are known.
void try_engines(HostFacts& host);

}  // namespace cordon::cli
