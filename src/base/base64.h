// SPDX-License-Identifier: Apache-2.0
// Base-64 as RFC 4648 has it first, with padding: bytes that are no text, inside JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cordon {

std::string to_base64(std::string_view bytes);

// Nothing: another character, a length that is no multiple of four, padding where none belongs, or
// bits set behind the last byte.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace cordon
