// SPDX-License-Identifier: Apache-2.0
// What a client wants to start, as the sandbox starts it.
#pragma once

#include <string>

#include "plan/lower.h"
#include "sandbox/sandbox.h"
#include "wire/requests.h"

namespace cordon::node {

// The client's variables stand over those of the policy; without a directory it is the workspace.
sandbox::Command command_of(wire::StartRequest start, const plan::Lowered& lowered);

// The first word of a command, without its directory. Before: it has one.
std::string program_of(const sandbox::Command& command);

}  // namespace cordon::node
