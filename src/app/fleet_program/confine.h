// SPDX-License-Identifier: Apache-2.0
// What a program of a fleet gives up before it reads the first byte of a client.
#pragma once

#include <string>

#include "base/result.h"

namespace cordon::fleet_program {

// From here on the process opens files in its own directory `state` alone, executes nothing, gets
// no rights and makes no calls that the wider filter of workloads refuses. Before: there is one
// thread, and what the settings name was read.
Status confine(const std::string& state);

}  // namespace cordon::fleet_program
