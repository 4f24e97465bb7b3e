// SPDX-License-Identifier: Apache-2.0
#include "http/tls_files.h"

#include <openssl/pem.h>

namespace cordon::http {
namespace {

OwnedBio reading(const std::string& text) {
  return OwnedBio{::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

// A key that asks for a passphrase would have it asked of whoever started the program.
int no_passphrase(char* /*room*/, int /*size*/, int /*writes*/, void* /*unused*/) { return -1; }

OwnedCertificate next_certificate(BIO* from) {
  return OwnedCertificate{::PEM_read_bio_X509(from, nullptr, no_passphrase, nullptr)};
}

}  // namespace

Status use_certificates(SSL_CTX* context, const std::string& text) {
  const OwnedBio bio = reading(text);
  const OwnedCertificate own = next_certificate(bio.get());
  if (!own) return openssl_error("the certificate", Errc::invalid);
  if (::SSL_CTX_use_certificate(context, own.get()) != 1)
    return openssl_error("the certificate", Errc::invalid);
  while (const OwnedCertificate between = next_certificate(bio.get())) {
    if (SSL_CTX_add1_chain_cert(context, between.get()) != 1)
      return openssl_error("the certificates", Errc::invalid);
  }
  static_cast<void>(openssl_error(""));  // that none is left is said as a failure
  return {};
}

Status use_key(SSL_CTX* context, const std::string& text) {
  const OwnedBio bio = reading(text);
  const OwnedKey key{::PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr)};
  if (!key) return openssl_error("the key", Errc::invalid);
  if (::SSL_CTX_use_PrivateKey(context, key.get()) != 1 ||
      ::SSL_CTX_check_private_key(context) != 1)
    return openssl_error("the key", Errc::invalid);
  return {};
}

Status require_peers(SSL_CTX* context, const std::string& text, Towards whom) {
  const OwnedBio bio = reading(text);
  X509_STORE* const store = ::SSL_CTX_get_cert_store(context);
  int count = 0;
  while (const OwnedCertificate authority = next_certificate(bio.get())) {
    if (::X509_STORE_add_cert(store, authority.get()) != 1)
      return openssl_error("the authorities", Errc::invalid);
    // Clients are told whose certificates will do.
    if (whom == Towards::clients && ::SSL_CTX_add_client_CA(context, authority.get()) != 1)
      return openssl_error("the authorities", Errc::invalid);
    ++count;
  }
  static_cast<void>(openssl_error(""));
  if (count == 0) return Error{Errc::invalid, "the authorities: no certificate"};
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

}  // namespace cordon::http
