// SPDX-License-Identifier: Apache-2.0
// Commands that have a preset of their own: `cordon claude` is `cordon run --preset claude --
// claude`.
#pragma once

#include <span>
#include <string_view>

namespace cordon::cli {

struct PresetName {
  std::string_view command;
  std::string_view preset;
};

std::span<const PresetName> preset_names() noexcept;

}  // namespace cordon::cli
