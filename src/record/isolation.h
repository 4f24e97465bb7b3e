// SPDX-License-Identifier: Apache-2.0
// The three walls a sandbox can stand behind, weakest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cordon {

// Ordered: a stronger tier compares greater, so the strongest of several is their maximum.
enum class Isolation : std::uint8_t { process, gvisor, microvm };

std::string_view to_string(Isolation isolation) noexcept;
std::optional<Isolation> isolation_from(std::string_view text) noexcept;

}  // namespace cordon
