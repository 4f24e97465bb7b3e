// SPDX-License-Identifier: Apache-2.0
#include "http/server_tls.h"

#include <openssl/pem.h>
#include <utility>

#include "http/tls_context.h"

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

Status require_clients(SSL_CTX* context, const std::string& text) {
  const OwnedBio bio = reading(text);
  X509_STORE* const store = ::SSL_CTX_get_cert_store(context);
  int count = 0;
  while (const OwnedCertificate authority = next_certificate(bio.get())) {
    if (::X509_STORE_add_cert(store, authority.get()) != 1 ||
        ::SSL_CTX_add_client_CA(context, authority.get()) != 1)
      return openssl_error("the authorities of clients", Errc::invalid);
    ++count;
  }
  static_cast<void>(openssl_error(""));
  if (count == 0) return Error{Errc::invalid, "the authorities of clients: no certificate"};
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

}  // namespace

Result<ServerTls> ServerTls::create(const ServerTlsFiles& files) {
  TRY(OwnedContext context, server_context());
  SSL_CTX* const raw = context.get();
  TRY_DO(use_certificates(raw, files.certificates));
  TRY_DO(use_key(raw, files.key));
  if (!files.client_authorities.empty()) {
    TRY_DO(require_clients(raw, files.client_authorities));
  }
  return ServerTls{std::move(context)};
}

Result<OwnedSsl> ServerTls::accept() const {
  OwnedSsl ssl{::SSL_new(context_.get())};
  if (!ssl) return openssl_error("SSL_new");
  ::SSL_set_accept_state(ssl.get());
  return ssl;
}

std::string proven_subject(const SSL* ssl) {
  const X509* const shown = ::SSL_get0_peer_certificate(ssl);
  if (shown == nullptr || ::SSL_get_verify_result(ssl) != X509_V_OK) return {};
  const OwnedBio bio{::BIO_new(::BIO_s_mem())};
  if (!bio) return {};
  ::X509_NAME_print_ex(bio.get(), ::X509_get_subject_name(shown), 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace cordon::http
