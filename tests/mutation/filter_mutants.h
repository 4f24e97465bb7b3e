// SPDX-License-Identifier: Apache-2.0
// Every way in which the filters' table could be one element weaker: a refused or absent call that
// is let through, a clause that refuses left out, a test of an argument left out of one that
// allows.
#pragma once

#include <string>
#include <vector>

#include "os/filter/profile.h"

namespace cordon::mutation {

// Names, each once: "mount: allowed", "ioctl: without EPERM if a1 == 0x5412".
std::vector<std::string> filter_mutants();

// A profile's rules under a mutant; as they are where the mutant does not touch it.
os::FilterSpec mutated_spec(os::FilterProfile profile, const std::string& mutant);

}  // namespace cordon::mutation
