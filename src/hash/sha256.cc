// SPDX-License-Identifier: Apache-2.0
// Over libcrypto's plain SHA-256. The newer interface would link the whole of libcrypto: 16,700
// relocations at each start of `cordon`, of which a run would not need one.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): libcrypto's own name
#define OPENSSL_SUPPRESS_DEPRECATED
#include "hash/sha256.h"

#include "base/wiped.h"

namespace cordon {

Sha256::Sha256() noexcept { ::SHA256_Init(&state_); }

Sha256::~Sha256() { wipe(std::as_writable_bytes(std::span{&state_, 1})); }

void Sha256::add(std::span<const std::byte> bytes) noexcept {
  ::SHA256_Update(&state_, bytes.data(), bytes.size());
}

void Sha256::end(std::span<std::byte, kDigestSize> digest) noexcept {
  ::SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &state_);
}

Digest sha256(std::initializer_list<std::span<const std::byte>> parts) noexcept {
  Sha256 hash;
  for (const std::span<const std::byte> part : parts) hash.add(part);
  Digest digest{};
  hash.end(digest);
  return digest;
}

}  // namespace cordon
