// SPDX-License-Identifier: Apache-2.0
// HMAC (RFC 2104) over SHA-256.
#include "token/mac.h"

#include <algorithm>
#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace cordon::token {
namespace {

constexpr std::size_t kBlock = SHA256_CBLOCK;
constexpr std::byte kInner{0x36};
constexpr std::byte kOuter{0x5c};

void add_pad(Sha256& to, const Secret& key, std::byte with) noexcept {
  std::array<std::byte, kBlock> pad{};
  std::ranges::copy(key.bytes(), pad.begin());
  for (std::byte& byte : pad) byte ^= with;
  to.add(pad);
  wipe(pad);
}

}  // namespace

Secret::Secret(std::span<const std::byte, kDigestSize> bytes) noexcept : bytes_{} {
  std::ranges::copy(bytes, bytes_.begin());
}

Secret::Secret(Secret&& other) noexcept : bytes_{other.bytes_} { wipe(other.bytes_); }

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  bytes_ = other.bytes_;
  wipe(other.bytes_);
  return *this;
}

bool same_bytes(std::span<const std::byte, kDigestSize> a,
                std::span<const std::byte, kDigestSize> b) noexcept {
  return ::CRYPTO_memcmp(a.data(), b.data(), kDigestSize) == 0;
}

Secret hmac(const Secret& key, std::initializer_list<Bytes> parts) noexcept {
  Sha256 inner;
  add_pad(inner, key, kInner);
  for (const Bytes part : parts) inner.add(part);
  Digest digest{};
  inner.end(digest);
  Sha256 outer;
  add_pad(outer, key, kOuter);
  outer.add(digest);
  outer.end(digest);
  Secret mac{digest};
  wipe(digest);
  return mac;
}

}  // namespace cordon::token
