// SPDX-License-Identifier: Apache-2.0
// A plan and what it holds, in words: for people, and for the files that tests compare.
#pragma once

#include <string>

#include "plan/lower.h"

namespace cordon::plan {

std::string describe(const frame::LaunchPlan& plan);
std::string describe(const Enforcement& enforcement);
// All of it, with environment and budgets.
std::string describe(const Lowered& lowered);

}  // namespace cordon::plan
