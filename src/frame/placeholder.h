// SPDX-License-Identifier: Apache-2.0
// What stands inside a sandbox where a secret would stand: says what it is, and cannot be guessed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace cordon::frame {

inline constexpr std::string_view kPlaceholderPrefix = "cordon-placeholder-";
inline constexpr std::size_t kPlaceholderBytes = 16;

// Of 128 bits that nobody can guess (os::random_bytes), new for each sandbox and grant.
std::string placeholder_from(std::span<const std::byte, kPlaceholderBytes> random);

bool is_placeholder(std::string_view text) noexcept;

}  // namespace cordon::frame
