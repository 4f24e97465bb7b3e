// SPDX-License-Identifier: Apache-2.0
// What cordond gives up before it reads the first byte of a client.
#pragma once

#include "base/result.h"
#include "node/settings.h"

namespace cordon::node {

// From here on the calling thread, and all that it starts, opens files in the node's own
// directories, and those that `settings` names; executes cordon-unpack; binds the port of
// `settings` and connects to no other by TCP; gets no rights and makes no calls that the
// wider filter of workloads refuses (its own and cordon-unpack's are among the others). Before:
// there is one thread, and the state directory is there.
//
// A kernel without Landlock, or with an older one, holds as much of it as it can.
Status confine(const Settings& settings);

}  // namespace cordon::node
