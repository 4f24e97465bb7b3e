// SPDX-License-Identifier: Apache-2.0
#include "broker/seal.h"

#include <array>
#include <cstring>
#include <memory>
#include <openssl/evp.h>

#include "base/wiped.h"
#include "os/random.h"

namespace cordon::broker {
namespace {

struct FreeContext {
  // Wipes the key schedule too.
  void operator()(EVP_CIPHER_CTX* context) const noexcept { ::EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* raw(std::span<std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

Error broken() { return Error{Errc::internal, "the cipher does not work"}; }

bool begin(EVP_CIPHER_CTX* context, std::span<const std::byte> key,
           std::span<const std::byte> nonce, bool encrypts) {
  return ::EVP_CipherInit_ex(context, ::EVP_aes_256_gcm(), nullptr, raw(key), raw(nonce),
                             encrypts ? 1 : 0) == 1;
}

// `out` empty: `in` is what the text is about.
bool add(EVP_CIPHER_CTX* context, std::span<std::byte> out, std::span<const std::byte> in) {
  if (in.empty()) return true;
  int done = 0;
  return ::EVP_CipherUpdate(context, out.empty() ? nullptr : raw(out), &done, raw(in),
                            static_cast<int>(in.size())) == 1;
}

bool end(EVP_CIPHER_CTX* context) {
  std::array<unsigned char, EVP_MAX_BLOCK_LENGTH> rest{};
  int size = 0;
  return ::EVP_CipherFinal_ex(context, rest.data(), &size) == 1;
}

}  // namespace

Status seal(std::span<const std::byte> key, std::span<const std::byte> about,
            std::span<const std::byte> plain, std::span<std::byte> sealed) {
  const auto nonce = sealed.first(kSealNonce);
  const auto text = sealed.subspan(kSealNonce, plain.size());
  const auto tag = sealed.last(kSealTag);
  TRY_DO(os::getrandom(nonce));
  const Context context{::EVP_CIPHER_CTX_new()};
  const bool done =
      context != nullptr && begin(context.get(), key, nonce, true) &&
      add(context.get(), {}, about) && add(context.get(), text, plain) && end(context.get()) &&
      ::EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, int{kSealTag}, raw(tag)) == 1;
  if (!done) return broken();
  return {};
}

Status unseal(std::span<const std::byte> key, std::span<const std::byte> about,
              std::span<const std::byte> sealed, std::span<std::byte> plain) {
  const auto text = sealed.subspan(kSealNonce, plain.size());
  std::array<unsigned char, kSealTag> tag{};
  std::memcpy(tag.data(), sealed.last(kSealTag).data(), kSealTag);
  const Context context{::EVP_CIPHER_CTX_new()};
  const bool begun =
      context != nullptr && begin(context.get(), key, sealed.first(kSealNonce), false) &&
      add(context.get(), {}, about) && add(context.get(), plain, text) &&
      ::EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, int{kSealTag}, tag.data()) == 1;
  if (begun && end(context.get())) return {};
  wipe(plain);
  if (!begun) return broken();
  return Error{Errc::invalid, "it was changed, or sealed with another key"};
}

}  // namespace cordon::broker
