// SPDX-License-Identifier: Apache-2.0
// What an image may be called.
#pragma once

#include <string_view>

namespace cordon::policy {

// 1 to 128 of a-z, 0-9, -, _ and ., of which neither - nor . comes first.
bool is_image_name(std::string_view name) noexcept;

}  // namespace cordon::policy
