// SPDX-License-Identifier: Apache-2.0
// Where cordon-unpack is.
#pragma once

#include <string>

namespace cordon::node {

// Our other programs lie where the one that runs does.
std::string unpack_program();

}  // namespace cordon::node
