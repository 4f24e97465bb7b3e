// SPDX-License-Identifier: Apache-2.0
// Of a sandbox that is not here: that it goes on at another node, or is about to be here.
#pragma once

#include <optional>
#include <string>

#include "async/task.h"
#include "base/id.h"
#include "node/residents.h"
#include "wire/problem_answer.h"

namespace cordon::api {

// Nothing: neither, or it is not `tenant`'s; empty: whosever it is.
async::Task<std::optional<wire::ProblemAnswer>> whereabouts_of(const node::Residents& residents,
                                                               SandboxId id, std::string tenant);

}  // namespace cordon::api
