// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes as they come.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <openssl/sha.h>
#include <span>

namespace cordon {

inline constexpr std::size_t kDigestSize = 32;
using Digest = std::array<std::byte, kDigestSize>;

// Nothing here can fail. What it has heard is wiped at its end: it may be a key.
class Sha256 {
 public:
  Sha256() noexcept;
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();

  void add(std::span<const std::byte> bytes) noexcept;
  // Of all that was added. Called once, and last.
  void end(std::span<std::byte, kDigestSize> digest) noexcept;

 private:
  SHA256_CTX state_{};
};

// Of all `parts`, one behind the other.
Digest sha256(std::initializer_list<std::span<const std::byte>> parts) noexcept;

}  // namespace cordon
