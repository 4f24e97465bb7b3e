// SPDX-License-Identifier: Apache-2.0
#include "http/client_tls.h"

#include <openssl/x509v3.h>

#include "http/tls_context.h"
#include "http/tls_files.h"

namespace cordon::http {
namespace {

constexpr std::size_t kAnswered = std::size_t{64} << 10U;  // read at once

}  // namespace

Result<ClientTls> ClientTls::create(const ClientTlsFiles& files) {
  TRY(OwnedContext context, client_context());
  SSL_CTX* const raw = context.get();
  // Answers may be long, and who asks has few connections.
  ::SSL_CTX_set_default_read_buffer_len(raw, kAnswered);
  TRY_DO(require_peers(raw, files.authorities, Towards::servers));
  if (!files.certificates.empty()) {
    TRY_DO(use_certificates(raw, files.certificates));
    TRY_DO(use_key(raw, files.key));
  }
  return ClientTls{std::move(context)};
}

Result<OwnedSsl> ClientTls::connect(const std::string& name) const {
  OwnedSsl ssl{::SSL_new(context_.get())};
  if (!ssl) return openssl_error("SSL_new");
  ::SSL_set_connect_state(ssl.get());
  // The subject's common name counts for nothing: only names that an authority has put in the list.
  ::SSL_set_hostflags(ssl.get(),
                      X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS);
  if (::SSL_set1_host(ssl.get(), name.c_str()) != 1) return openssl_error("SSL_set1_host");
  if (SSL_set_tlsext_host_name(ssl.get(), name.c_str()) != 1) {
    return openssl_error("SSL_set_tlsext_host_name");
  }
  return ssl;
}

}  // namespace cordon::http
