// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/file_signature.h"

#include <algorithm>

#include "base/bytes.h"
#include "hash/sha256.h"
#include "token/base64url.h"
#include "token/mac.h"

namespace cordon::api::e2b {
namespace {

constexpr std::string_view kVersion = "v1_";

Digest digest_of(const SignedFile& file, std::string_view token) {
  std::string text = file.path;
  text.append(file.use == FileUse::read ? ":read:" : ":write:").append(file.user).append(":");
  const std::string behind = file.expires ? ":" + std::to_string(*file.expires) : "";
  return sha256({as_bytes(text), as_bytes(token), as_bytes(behind)});
}

// Between the two alphabets of base64, either way.
std::string with(std::string text, char plus, char slash, char to_plus, char to_slash) {
  std::ranges::replace(text, plus, to_plus);
  std::ranges::replace(text, slash, to_slash);
  return text;
}

}  // namespace

std::string signature_of(const SignedFile& file, std::string_view token) {
  const Digest digest = digest_of(file, token);
  return std::string{kVersion} + with(token::to_base64url(digest), '-', '_', '+', '/');
}

bool is_signed(const SignedFile& file, std::string_view token, std::string_view signature,
               std::chrono::sys_seconds now) {
  if (!signature.starts_with(kVersion)) return false;
  const std::string letters{signature.substr(kVersion.size())};
  // Of the other alphabet: nobody signs so.
  if (letters.find_first_of("-_") != std::string::npos) return false;
  const auto said = token::from_base64url(with(letters, '+', '/', '-', '_'));
  if (!said || said->size() != kDigestSize) return false;
  const Digest digest = digest_of(file, token);
  const std::span<const std::byte, kDigestSize> told{said->data(), kDigestSize};
  if (!token::same_bytes(told, digest)) return false;
  return !file.expires || *file.expires >= now.time_since_epoch().count();
}

}  // namespace cordon::api::e2b
