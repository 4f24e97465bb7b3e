// SPDX-License-Identifier: Apache-2.0
// The kernel and first file system of virtual machines in local use.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/verbs.h"

namespace cordon::cli {

// $CORDON_MACHINE, else "machine" of the caller's data (state_root.h).
Result<std::string> machine_root(const Context& context);

// Launchers that are started from here on know where it is.
void name_machine(const Context& context);

// Builds it of the kernel that the host has installed, unless it was built of the same. True: it
// was built now. What fails is said by the trial that follows.
bool build_machine_once(const Context& context);

}  // namespace cordon::cli
