// SPDX-License-Identifier: Apache-2.0
// File operations for the host, done with the workload's rights and behind its fences.
#pragma once

#include "frame/guest.h"

namespace cordon::guest {

// Only regular files are read and written: a FIFO, a device or a directory is refused (EINVAL,
// EISDIR) and never waited for. Links on the way are followed; as the last component they are
// followed by read, write and list, and are the object itself for the others.
frame::FileReply act(const frame::FileRequest& request);

}  // namespace cordon::guest
