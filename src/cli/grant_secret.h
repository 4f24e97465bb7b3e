// SPDX-License-Identifier: Apache-2.0
// The caller as the owner of what a grant is made of.
#pragma once

#include "base/result.h"
#include "base/wiped.h"
#include "cli/verbs.h"
#include "policy/document.h"

namespace cordon::cli {

// In the caller's own surroundings (source/secret_source.h). Errors name the grant and its source.
Result<WipedBytes> read_secret(const policy::Grant& grant, const Context& context);

}  // namespace cordon::cli
