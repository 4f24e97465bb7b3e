// SPDX-License-Identifier: Apache-2.0
// One change as a unified diff.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "review/change.h"

namespace cordon::review {

// Printable text only. What is no text, or larger than 1 MiB, is told by its sizes; a link by its
// target.
Result<std::string> patch(const Change& change, const os::Fd& upper, const os::Fd& workspace);

}  // namespace cordon::review
