// SPDX-License-Identifier: Apache-2.0
// The contents of one open file into another.
#pragma once

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Copies bytes 0 to the end of `from`, a regular file, into `to`, which is empty. Holes stay holes:
// a file that claims a terabyte and holds a page costs a page. Shares blocks where the filesystem
// can.
Status copy_contents(const Fd& from, const Fd& to);

}  // namespace cordon::os
