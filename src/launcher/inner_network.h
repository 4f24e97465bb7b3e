// SPDX-License-Identifier: Apache-2.0
// The network of an engine: a namespace of its own whose one link ends where everything is steered.
#pragma once

#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Makes it and enters it. It belongs to `user_namespace`: an engine takes its link over, and has no
// rights where the link ends. Before: the caller may change `steered` (os/steering.h).
Status enter_inner_network(const os::Fd& steered, const os::Fd& user_namespace);

// The near end of such a link: its address, and the route to who is at the far end. Before: the
// caller is in the steered namespace and may change it.
Status join_guest_link(std::string_view name);
inline constexpr std::string_view kGuestLink = "guest";

}  // namespace cordon::launcher
