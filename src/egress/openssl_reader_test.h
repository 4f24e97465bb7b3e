// SPDX-License-Identifier: Apache-2.0
// What a server with OpenSSL would take for the ClientHello at the front of some bytes. It is as
// lenient as it can be made.
#pragma once

#include <cstddef>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <optional>
#include <span>
#include <string>

namespace cordon::egress {

struct OpensslHello {
  std::optional<std::string> name_extension;  // its data
  bool encrypted = false;
};

// Nothing: it wants more, or it refuses.
inline std::optional<OpensslHello> read_by_openssl(std::span<const std::byte> bytes) {
  static SSL_CTX* const context = [] {
    SSL_CTX* const made = ::SSL_CTX_new(::TLS_server_method());
    ::SSL_CTX_set_min_proto_version(made, SSL3_VERSION);
    ::SSL_CTX_set_security_level(made, 0);
    return made;
  }();
  std::optional<OpensslHello> hello;
  const auto look = [](SSL* ssl, int* alert, void* out) {
    OpensslHello& seen = static_cast<std::optional<OpensslHello>*>(out)->emplace();
    const unsigned char* data = nullptr;
    std::size_t size = 0;
    if (::SSL_client_hello_get0_ext(ssl, 0, &data, &size) == 1)
      seen.name_extension = std::string{reinterpret_cast<const char*>(data), size};
    seen.encrypted = ::SSL_client_hello_get0_ext(ssl, 0xFE0D, &data, &size) == 1;
    *alert = SSL_AD_INTERNAL_ERROR;
    return SSL_CLIENT_HELLO_ERROR;  // it has done its work
  };
  ::SSL_CTX_set_client_hello_cb(context, look, &hello);
  SSL* const ssl = ::SSL_new(context);
  BIO* const in = ::BIO_new(::BIO_s_mem());
  ::BIO_set_mem_eof_return(in, -1);
  ::BIO_write(in, bytes.data(), static_cast<int>(bytes.size()));
  ::SSL_set_bio(ssl, in, ::BIO_new(::BIO_s_mem()));
  ::SSL_set_accept_state(ssl);
  static_cast<void>(::SSL_do_handshake(ssl));
  ::SSL_free(ssl);
  ::ERR_clear_error();
  return hello;
}

}  // namespace cordon::egress
