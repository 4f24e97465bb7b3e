// SPDX-License-Identifier: Apache-2.0
// Paths as clients of this face name them: absolute, or from the home on. (pure)
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cordon::api::e2b {

inline constexpr std::string_view kHome = "/home/user";

// In its one spelling: `~` and relative paths lead to the home, `.`, `..` and doubled slashes are
// resolved by their letters alone. `invalid`: it has a zero byte, or is too long.
Result<std::string> inner_path(std::string_view path);

// The last part; of the root "/".
std::string base_name(std::string_view path);

}  // namespace cordon::api::e2b
