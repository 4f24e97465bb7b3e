// SPDX-License-Identifier: Apache-2.0
// A link whose far end is a descriptor.
#pragma once

#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Of the caller's network namespace, over which it needs CAP_NET_ADMIN; there until the descriptor
// is closed. Frames come with the head that a virtual network device has (IFF_VNET_HDR).
Result<Fd> make_tap(std::string_view name);

}  // namespace cordon::os
