// SPDX-License-Identifier: Apache-2.0
// Documents that come with the binary: `extends = ["coding-agent"]`.
#pragma once

#include <span>
#include <string_view>

namespace cordon::policy {

struct Preset {
  std::string_view name;
  std::string_view text;  // TOML
};

// In the order of their names.
std::span<const Preset> all_presets() noexcept;

// Null when there is no such preset.
const Preset* find_preset(std::string_view name) noexcept;

}  // namespace cordon::policy
