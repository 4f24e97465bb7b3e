// SPDX-License-Identifier: Apache-2.0
#include "launcher/file_digest.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

#include "base/bytes.h"
#include "hash/sha256.h"

namespace cordon::launcher {
namespace {

constexpr std::string_view kKind = "sha256:";
constexpr std::size_t kReadAtOnce = std::size_t{1} << 20U;

}  // namespace

Result<std::string> digest_of(const os::Fd& file) {
  Sha256 hash;
  std::vector<std::byte> piece(kReadAtOnce);
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(file.get(), piece.data(), piece.size(), at);
    if (count < 0) return Error::from_errno("pread");
    if (count == 0) break;
    hash.add(std::span{piece}.first(static_cast<std::size_t>(count)));
    at += count;
  }
  Digest digest{};
  hash.end(digest);
  return std::string{kKind} + to_hex(digest);
}

bool is_digest(std::string_view text) {
  if (!text.starts_with(kKind)) return false;
  text.remove_prefix(kKind.size());
  return text.size() == 2 * kDigestSize && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace cordon::launcher
