// SPDX-License-Identifier: Apache-2.0
// A stream socket of the Unix domain for a server to listen at.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// At a path whose directory is the caller's own. A socket that a dead server left there is taken
// away; `exists`: another one listens, or something else is there. Everybody of the caller's group
// may connect.
Result<Fd> listen_at_path(const std::string& path);

}  // namespace cordon::os
