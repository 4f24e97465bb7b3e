// SPDX-License-Identifier: Apache-2.0
#include "notary/ed25519.h"

#include <openssl/evp.h>
#include <string>

namespace cordon::notary {
namespace {

Error no_key() { return {Errc::internal, "Ed25519: the key cannot be made"}; }

struct ContextEnd {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, ContextEnd>;

template <class Byte>
auto* octets(Byte* bytes) {
  using Octet = std::conditional_t<std::is_const_v<Byte>, const unsigned char, unsigned char>;
  return reinterpret_cast<Octet*>(bytes);
}

}  // namespace

Result<SigningKey> SigningKey::from(std::span<const std::byte> seed) {
  Key key{EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, octets(seed.data()), seed.size()),
          &EVP_PKEY_free};
  if (!key) return no_key();
  audit::PublicKey told{};
  std::size_t size = told.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), octets(told.data()), &size) != 1) return no_key();
  return SigningKey{std::move(key), told};
}

Status SigningKey::sign(audit::Head& head) const {
  head.key = public_key_;
  const std::string text = signed_text(head);
  const Context context{EVP_MD_CTX_new()};
  std::size_t size = head.signature.size();
  const bool done = context &&
                    EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
                    EVP_DigestSign(context.get(), octets(head.signature.data()), &size,
                                   octets(text.data()), text.size()) == 1;
  if (done && size == head.signature.size()) return {};
  return Error{Errc::internal, "Ed25519: the head cannot be signed"};
}

bool is_signed(const audit::Head& head) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key{
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, octets(head.key.data()),
                                  head.key.size()),
      &EVP_PKEY_free};
  const Context context{EVP_MD_CTX_new()};
  const std::string text = signed_text(head);
  return key && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), octets(head.signature.data()), head.signature.size(),
                          octets(text.data()), text.size()) == 1;
}

}  // namespace cordon::notary
