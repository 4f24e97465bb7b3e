// SPDX-License-Identifier: Apache-2.0
// What cordon-egress gives up before it hears the first word.
#pragma once

#include "base/result.h"

namespace cordon::egress {

// An Error names the step, and the program must not go on. For a process of one thread, once, for
// good. Before: it has read every file and has every descriptor that it needs, but for connections.
Status confine();

}  // namespace cordon::egress
