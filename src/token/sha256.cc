// SPDX-License-Identifier: Apache-2.0
// Over libcrypto's plain SHA-256. The newer interface would link the whole of libcrypto: 16,700
// relocations at each start of `cordon`, of which a run would not need one.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): libcrypto's own name
#define OPENSSL_SUPPRESS_DEPRECATED
#include "token/sha256.h"

#include "base/wiped.h"

namespace cordon::token {

Sha256::Sha256() noexcept { ::SHA256_Init(&state_); }

Sha256::~Sha256() { wipe(std::as_writable_bytes(std::span{&state_, 1})); }

void Sha256::add(Bytes bytes) noexcept { ::SHA256_Update(&state_, bytes.data(), bytes.size()); }

void Sha256::end(std::span<std::byte, kDigestSize> digest) noexcept {
  ::SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &state_);
}

}  // namespace cordon::token
