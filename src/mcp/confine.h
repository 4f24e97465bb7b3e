// SPDX-License-Identifier: Apache-2.0
// What cordon-mcp gives up before it reads the first byte.
#pragma once

#include "base/result.h"

namespace cordon::mcp {

// Afterwards it reads standard input, writes standard output and error, and has memory, up to a
// bound; nothing else. An Error names the step, and the program must not go on. For a process of
// one thread, once, for good.
Status confine();

}  // namespace cordon::mcp
