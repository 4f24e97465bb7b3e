// SPDX-License-Identifier: Apache-2.0
#include "http/websocket_key.h"

#include <array>
#include <openssl/evp.h>

namespace cordon::http {

std::string accepted_key(std::string_view key) {
  const std::string joined = std::string{key} + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  // SHA-1 is what the protocol names; nothing here rests on its strength.
  if (::EVP_Digest(joined.data(), joined.size(), digest.data(), &size, ::EVP_sha1(), nullptr) != 1)
    return {};
  std::array<unsigned char, 32> text{};  // 28 characters and a zero
  const int written = ::EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
  return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(written)};
}

}  // namespace cordon::http
