// SPDX-License-Identifier: Apache-2.0
// HMAC-SHA-256, and the type of what must not be seen: keys and tags.
#pragma once

#include <initializer_list>
#include <span>

#include "base/wiped.h"
#include "hash/sha256.h"

namespace cordon::token {

using Bytes = std::span<const std::byte>;

// 32 bytes that leave no copy behind: moved from, assigned over or destroyed, they are zeros.
class Secret {
 public:
  explicit Secret(std::span<const std::byte, kDigestSize> bytes) noexcept;
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  ~Secret() { wipe(bytes_); }

  std::span<const std::byte, kDigestSize> bytes() const noexcept { return bytes_; }

 private:
  Digest bytes_;
};

// Takes the same time wherever they differ.
bool same_bytes(std::span<const std::byte, kDigestSize> a,
                std::span<const std::byte, kDigestSize> b) noexcept;

// Of all `parts`, one behind the other. Nothing here can fail.
Secret hmac(const Secret& key, std::initializer_list<Bytes> parts) noexcept;

}  // namespace cordon::token
