// SPDX-License-Identifier: Apache-2.0
// Signals as clients name them.
#pragma once

#include <cstdint>

#include "policy/section.h"

namespace cordon::wire {

// The key `signal` of a document: "SIGTERM", "TERM" or 15. What is wrong goes to the problems of
// `top`; then 0.
std::uint8_t signal_in(const policy::Section& top);

}  // namespace cordon::wire
