// SPDX-License-Identifier: Apache-2.0
// What the node holds, as API v1 shows it.
#pragma once

#include "api/rest/call.h"
#include "node/residents.h"
#include "wire/answers.h"
#include "wire/unit.h"

namespace cordon::api {

wire::SandboxAnswer shown(const node::Resident& resident);
wire::SandboxAnswer shown(const node::EndedSandbox& ended);
wire::ProcessAnswer shown(const node::ResidentProcess& process);

// With all that was wrong.
wire::ProblemAnswer problem_with(const Error& error, const node::WhyNotAdmitted& why);

// Of what cannot be done in a sandbox that is paused.
wire::ProblemAnswer is_paused_problem();

// By what a gateway has it counted; nothing: by nothing.
Result<std::optional<wire::Unit>> unit_of(const Call& call);

// Whose a new sandbox is: of an operator who names nobody, the tenant "default".
std::string owner_of(const Call& call);

}  // namespace cordon::api
