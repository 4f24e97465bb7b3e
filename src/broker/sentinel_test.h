// SPDX-License-Identifier: Apache-2.0
// The secret of these tests: easily found where it should not be.
#pragma once

#include <string_view>

namespace cordon::broker {

inline constexpr std::string_view kSentinel = "tuesday-sentinel-9f2c";

}  // namespace cordon::broker
