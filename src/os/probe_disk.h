// SPDX-License-Identifier: Apache-2.0
// The experiment with disk images. It runs in a trial.
#pragma once

#include "os/probe_identity.h"
#include "record/host_facts.h"

namespace cordon::os {

// A file without a name becomes a block device, which must take what is written to it; ext4 and
// the program that makes one must be there. Nothing is left: the device clears itself.
Fact probe_disk_images(const Caller& caller);

}  // namespace cordon::os
