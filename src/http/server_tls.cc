// SPDX-License-Identifier: Apache-2.0
#include "http/server_tls.h"

#include <utility>

#include "http/tls_context.h"
#include "http/tls_files.h"

namespace cordon::http {

Result<ServerTls> ServerTls::create(const ServerTlsFiles& files) {
  TRY(OwnedContext context, server_context());
  SSL_CTX* const raw = context.get();
  TRY_DO(use_certificates(raw, files.certificates));
  TRY_DO(use_key(raw, files.key));
  if (!files.client_authorities.empty()) {
    TRY_DO(require_peers(raw, files.client_authorities, Towards::clients));
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
