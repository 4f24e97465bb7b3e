// SPDX-License-Identifier: Apache-2.0
// Tells two plans apart in the record. Not a proof of anything.
#pragma once

#include <string>

#include "plan/lower.h"

namespace cordon::plan {

std::string digest_of(const Lowered& lowered);

}  // namespace cordon::plan
