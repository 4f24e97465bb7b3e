// SPDX-License-Identifier: Apache-2.0
// A signed head: who holds one can tell, later and anywhere, whether a log still says what it said.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hash/sha256.h"
#include "os/fd.h"

namespace cordon::audit {

inline constexpr std::size_t kPublicKeySize = 32;
inline constexpr std::size_t kSignatureSize = 64;
using PublicKey = std::array<std::byte, kPublicKeySize>;  // Ed25519
using Signature = std::array<std::byte, kSignatureSize>;

struct Head {
  std::string log;         // the id of the log
  std::uint64_t size = 0;  // how many records
  Digest root{};           // of the tree of these
  WallTime time;           // when it was signed
  PublicKey key{};         // that it says it was signed with
  Signature signature{};
  friend bool operator==(const Head&, const Head&) = default;
};

// What is signed: all of it but the signature, behind words that nothing else which is signed
// begins with.
std::string signed_text(const Head& head);
// One line, without its newline; canonical, as records are.
std::string encode(const Head& head);
Result<Head> decode_head(std::string_view line);

// Those in the file `name` of `directory`, in its order; none where there is no such file.
// `invalid`: a line of it is no head; an unfinished last one does not count.
Result<std::vector<Head>> read_heads(const os::Fd& directory, const std::string& name);

}  // namespace cordon::audit
