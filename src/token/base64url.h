// SPDX-License-Identifier: Apache-2.0
// Base-64 with the alphabet of URLs and without padding; one spelling of each byte string.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/wiped.h"

namespace cordon::token {

std::string to_base64url(std::span<const std::byte> bytes);

// Refused: any other character, `=` among them, a length that no bytes have, and bits set behind
// the last byte. The bytes may be a secret.
Result<WipedBytes> from_base64url(std::string_view text);

}  // namespace cordon::token
