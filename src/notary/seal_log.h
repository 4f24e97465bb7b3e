// SPDX-License-Identifier: Apache-2.0
// A log of the caller's own is read and signed, by a notary of its own.
#pragma once

#include <optional>

#include "audit/head.h"
#include "base/result.h"
#include "notary/notary.h"
#include "os/fd.h"

namespace cordon::notary {

// Reads what was added since the last head, and signs all: the head is in the notary's anchor and
// beside the log. Nothing where there is nothing new. `denied`: the log does not continue what was
// signed, or its records do not follow each other. `log`: its directory, open for reading.
Result<std::optional<audit::Head>> seal_log(Notary& notary, const os::Fd& log);

}  // namespace cordon::notary
