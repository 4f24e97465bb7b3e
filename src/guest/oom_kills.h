// SPDX-License-Identifier: Apache-2.0
// How many processes the kernel has ended for want of memory. In a machine these are the sandbox's.
#pragma once

#include <cstdint>

namespace cordon::guest {

// Of the whole kernel. One that does not count them has ended none that we know of.
std::uint64_t oom_kills();

}  // namespace cordon::guest
