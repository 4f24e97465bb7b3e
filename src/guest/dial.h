// SPDX-License-Identifier: Apache-2.0
// Connects a tunnel, in a child of the spawner: with the workload's rights, behind its fences.
#pragma once

#include "frame/guest.h"
#include "os/fd.h"

namespace cordon::guest {

// To the port of our own loopback, 127.0.0.1 or else ::1, for at most a few seconds. The socket, or
// the error number of the first, goes to pid 1 over `answer`.
void dial(const frame::OpenTunnel& wanted, const os::Fd& answer);
void refuse_dial(int error_number, const os::Fd& answer);

}  // namespace cordon::guest
