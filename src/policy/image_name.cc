// SPDX-License-Identifier: Apache-2.0
#include "policy/image_name.h"

#include <algorithm>

namespace cordon::policy {

bool is_image_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 128 && name.front() != '-' && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                  c == '_';
         });
}

}  // namespace cordon::policy
