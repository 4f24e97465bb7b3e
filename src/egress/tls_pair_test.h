// SPDX-License-Identifier: Apache-2.0
// A TLS client and a TLS server of OpenSSL, joined by nothing but the test.
#pragma once

#include <array>
#include <memory>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>

namespace cordon::egress {

template <auto kFree>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using SslContext = std::unique_ptr<SSL_CTX, Freed<&::SSL_CTX_free>>;

class TlsEnd {
 public:
  TlsEnd(SslContext context, bool server)
      : context_{std::move(context)}, ssl_{::SSL_new(context_.get())} {
    ::SSL_set_bio(ssl_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    server ? ::SSL_set_accept_state(ssl_.get()) : ::SSL_set_connect_state(ssl_.get());
  }

  // Hears `bytes`, goes on with the handshake as far as it can, and says what it says.
  std::string hear(const std::string& bytes) {
    ::BIO_write(::SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    static_cast<void>(::SSL_do_handshake(ssl_.get()));
    std::string said;
    std::array<char, 4096> buffer{};
    for (int size = 0; (size = ::BIO_read(::SSL_get_wbio(ssl_.get()), buffer.data(),
                                          static_cast<int>(buffer.size()))) > 0;) {
      said.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return said;
  }

  bool is_connected() const { return ::SSL_is_init_finished(ssl_.get()) == 1; }
  SSL* ssl() const { return ssl_.get(); }

 private:
  SslContext context_;
  std::unique_ptr<SSL, Freed<&::SSL_free>> ssl_;
};

// `groups`: for the exchange of keys; a client sends a share of the first of its own only.
inline TlsEnd tls_client(const char* name, const char* groups, int version) {
  SslContext context{::SSL_CTX_new(::TLS_client_method())};
  ::SSL_CTX_set_max_proto_version(context.get(), version);
  ::SSL_CTX_set1_groups_list(context.get(), groups);
  TlsEnd client{std::move(context), false};
  ::SSL_set_tlsext_host_name(client.ssl(), name);
  return client;
}

// With a certificate that it has made for itself.
inline TlsEnd tls_server(const char* groups) {
  SslContext context{::SSL_CTX_new(::TLS_server_method())};
  ::SSL_CTX_set1_groups_list(context.get(), groups);
  const std::unique_ptr<EVP_PKEY, Freed<&::EVP_PKEY_free>> key{::EVP_EC_gen("P-256")};
  const std::unique_ptr<X509, Freed<&::X509_free>> certificate{::X509_new()};
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), 0);
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), 3600);
  ::X509_set_pubkey(certificate.get(), key.get());
  ::X509_sign(certificate.get(), key.get(), ::EVP_sha256());
  ::SSL_CTX_use_certificate(context.get(), certificate.get());
  ::SSL_CTX_use_PrivateKey(context.get(), key.get());
  return {std::move(context), true};
}

}  // namespace cordon::egress
