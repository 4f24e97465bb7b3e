// SPDX-License-Identifier: Apache-2.0
// Whether gVisor and virtual machines work here: tried when asked for, because that starts one.
#pragma once

#include "record/host_facts.h"

namespace cordon::cli {

// Fills in the facts about it, by a trial of a launcher's. Before: the other facts are known, and
// for a machine, its kernel is built (machine.h).
void try_gvisor(HostFacts& host);
void try_machine(HostFacts& host);

}  // namespace cordon::cli
