// SPDX-License-Identifier: Apache-2.0
// Our other programs, which lie where we do.
#pragma once

#include <string>

namespace cordon::cli {

std::string program_beside(const char* name);

}  // namespace cordon::cli
