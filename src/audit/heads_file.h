// SPDX-License-Identifier: Apache-2.0
// A file of signed heads: beside the log, and wherever else they are anchored.
#pragma once

#include "audit/head.h"
#include "base/result.h"
#include "os/fd.h"

namespace cordon::audit {

// Beside the log.
inline constexpr const char* kHeads = "heads";

// Puts it behind the others, on the disk when this returns. What a writer that died has left of a
// line is overwritten. `file`: open for reading and writing; nobody else writes to it meanwhile.
Status append_head(const os::Fd& file, const Head& head);
// The same with the file `name` of `directory`, made where there is none; in turns with others.
Status append_head(const os::Fd& directory, const char* name, const Head& head);

}  // namespace cordon::audit
