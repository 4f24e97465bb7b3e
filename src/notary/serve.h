// SPDX-License-Identifier: Apache-2.0
// The notary's loop: one who asks, one answer each.
#pragma once

#include "base/result.h"
#include "notary/notary.h"
#include "os/fd.h"

namespace cordon::notary {

// Until the other end of `node` has gone, which is no error. What does not decode is one.
Status serve(Notary& notary, const os::Fd& node);

}  // namespace cordon::notary
