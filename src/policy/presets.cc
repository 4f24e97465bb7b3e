// SPDX-License-Identifier: Apache-2.0
#include "policy/presets.h"

#include <algorithm>
#include <iterator>

namespace cordon::policy {
namespace {

constexpr Preset kPresets[] = {
#include "policy/preset_texts.inc"
};

}  // namespace

std::span<const Preset> all_presets() noexcept { return kPresets; }

const Preset* find_preset(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kPresets, name, &Preset::name);
  return found == std::end(kPresets) ? nullptr : found;
}

}  // namespace cordon::policy
