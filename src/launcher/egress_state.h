// SPDX-License-Identifier: Apache-2.0
// The file that outlives a cordon-egress: names, authorities and what was spent. It lives as long
// as somebody holds it. So that it outlives its launcher too, the node holds it without being able
// to open it: authorities are nothing that a node needs to see.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Empty, in memory; nobody but us can open it by a hold on it.
Result<os::Fd> make_egress_state();

// An O_PATH descriptor.
Result<os::Fd> hold_egress_state(const os::Fd& state);

// From a node, which may be hostile: `invalid` for anything but what make_egress_state() has made,
// here or in an earlier launcher.
Result<os::Fd> open_egress_state(const os::Fd& hold);

}  // namespace cordon::launcher
