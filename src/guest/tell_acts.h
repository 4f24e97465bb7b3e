// SPDX-License-Identifier: Apache-2.0
// Between a machine's guest and its port: what programs did is told before what the guest says of
// them later.
#pragma once

#include "base/result.h"
#include "guest/machine_recorder.h"
#include "os/fd.h"

namespace cordon::guest {

// Carries frames until the guest has closed its end, and what it did until then, or until nobody is
// at the port any more. Neither descriptor blocks.
Status tell_acts(MachineRecorder& recorder, const os::Fd& guest, const os::Fd& port);

}  // namespace cordon::guest
