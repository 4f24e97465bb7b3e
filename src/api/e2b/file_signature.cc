// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/file_signature.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "hash/sha256.h"
#include "token/mac.h"

namespace cordon::api::e2b {
namespace {

constexpr std::string_view kVersion = "v1_";
constexpr std::string_view kPadding = "=";  // of a digest, and not written

Digest digest_of(const SignedFile& file, std::string_view token) {
  std::string text = file.path;
  text.append(file.use == FileUse::read ? ":read:" : ":write:").append(file.user).append(":");
  const std::string behind = file.expires ? ":" + std::to_string(*file.expires) : "";
  return sha256({as_bytes(text), as_bytes(token), as_bytes(behind)});
}

}  // namespace

std::string signature_of(const SignedFile& file, std::string_view token) {
  std::string letters = to_base64(as_text(digest_of(file, token)));
  letters.erase(letters.size() - kPadding.size());
  return std::string{kVersion} + letters;
}

bool is_signed(const SignedFile& file, std::string_view token, std::string_view signature,
               std::chrono::sys_seconds now) {
  if (!signature.starts_with(kVersion)) return false;
  const auto said = from_base64(std::string{signature.substr(kVersion.size())}.append(kPadding));
  if (!said || said->size() != kDigestSize) return false;
  const Digest digest = digest_of(file, token);
  if (!token::same_bytes(as_bytes(*said).first<kDigestSize>(), digest)) return false;
  return !file.expires || *file.expires >= now.time_since_epoch().count();
}

}  // namespace cordon::api::e2b
