// SPDX-License-Identifier: Apache-2.0
// The one cipher of what the broker keeps on a disk: AES-256-GCM, with a nonce of its own each
// time.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace cordon::broker {

inline constexpr std::size_t kSealKey = 32;
// What sealing adds: a nonce before it and a tag behind it.
inline constexpr std::size_t kSealNonce = 12;
inline constexpr std::size_t kSealTag = 16;
inline constexpr std::size_t kSealAdds = kSealNonce + kSealTag;

// Before: `key` has kSealKey bytes, `sealed` kSealAdds more than `plain`. `about` is not in it, and
// must be the same when it is opened.
Status seal(std::span<const std::byte> key, std::span<const std::byte> about,
            std::span<const std::byte> plain, std::span<std::byte> sealed);

// `invalid`: another key, another `about`, or changed. Then `plain` holds zeros.
Status unseal(std::span<const std::byte> key, std::span<const std::byte> about,
              std::span<const std::byte> sealed, std::span<std::byte> plain);

}  // namespace cordon::broker
