// SPDX-License-Identifier: Apache-2.0
// How soon an egress or a broker that has died is replaced.
#pragma once

#include <chrono>

namespace cordon::node {

// Between two tries: short at first, so that one death is hardly noticed.
inline constexpr std::chrono::milliseconds kFirstPause{20};
// Whoever kills it again and again has it back within a second all the same.
inline constexpr std::chrono::milliseconds kLongestPause{100};
// One that lived longer than this was not killed by what is sent to it.
inline constexpr std::chrono::seconds kQuietLife{5};

}  // namespace cordon::node
