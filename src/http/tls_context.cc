// SPDX-License-Identifier: Apache-2.0
#include "http/tls_context.h"

#include <array>

namespace cordon::http {
namespace {

// The fastest first: of what a stream costs whoever passes it on, a third is this, and nobody
// breaks any of them.
constexpr const char* kSuites =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr std::array<unsigned char, 9> kProtocols{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

Result<OwnedContext> common_context(const SSL_METHOD* method) {
  start_openssl();
  OwnedContext context{::SSL_CTX_new(method)};
  SSL_CTX* const raw = context.get();
  if (raw == nullptr) return openssl_error("SSL_CTX_new");
  ::SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  // A buffer that moves is a buffer that a coroutine may own. OpenSSL's own are given back by a
  // stream at rest: to make them anew for each record would cost a request more than its parsing.
  ::SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ::SSL_CTX_set_security_level(raw, 2);
  SSL_CTX_set_read_ahead(raw, 1);
  if (::SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) != 1)
    return openssl_error("SSL_CTX_set_min_proto_version");
  return context;
}

int choose_protocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void* /*unused*/) {
  unsigned char* out = nullptr;
  if (::SSL_select_next_proto(&out, size, kProtocols.data(), kProtocols.size(), offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = out;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<OwnedContext> server_context() {
  TRY(OwnedContext context, common_context(::TLS_server_method()));
  ::SSL_CTX_set_num_tickets(context.get(), 0);  // of TLS 1.3, which the option leaves
  if (::SSL_CTX_set_ciphersuites(context.get(), kSuites) != 1)
    return openssl_error("SSL_CTX_set_ciphersuites");
  ::SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  return context;
}

Result<OwnedContext> client_context() {
  TRY(OwnedContext context, common_context(::TLS_client_method()));
  if (::SSL_CTX_set_alpn_protos(context.get(), kProtocols.data(), kProtocols.size()) != 0)
    return openssl_error("SSL_CTX_set_alpn_protos");
  return context;
}

}  // namespace cordon::http
