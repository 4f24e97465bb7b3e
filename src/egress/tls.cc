// SPDX-License-Identifier: Apache-2.0
#include "egress/tls.h"

#include <cstring>
#include <string_view>

#include "http/tls_context.h"
#include "policy/host.h"

namespace cordon::egress {
namespace {

// A leaf has one name: it is what the client must ask for.
int check_name(SSL* ssl, int* alert, void* /*unused*/) {
  const char* const asked = ::SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  *alert = SSL_AD_UNRECOGNIZED_NAME;
  if (asked == nullptr) return SSL_TLSEXT_ERR_ALERT_FATAL;
  constexpr unsigned kExactly = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS;
  const bool is_ours = ::X509_check_host(::SSL_get_certificate(ssl), asked, std::strlen(asked),
                                         kExactly, nullptr) == 1;
  return is_ours ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

Result<TlsServer> TlsServer::create() {
  TRY(OwnedContext context, http::server_context());
  SSL_CTX_set_tlsext_servername_callback(context.get(), check_name);
  return TlsServer{std::move(context)};
}

Result<OwnedSsl> TlsServer::accept(const Leaf& leaf) const {
  OwnedSsl ssl{::SSL_new(context_.get())};
  if (!ssl || ::SSL_use_certificate(ssl.get(), leaf.certificate) != 1 ||
      ::SSL_use_PrivateKey(ssl.get(), leaf.key) != 1)
    return openssl_error("SSL_new");
  ::SSL_set_accept_state(ssl.get());
  return ssl;
}

Result<TlsClient> TlsClient::create(const TrustStore& trusted) {
  TRY(OwnedContext context, http::client_context());
  ::SSL_CTX_set1_cert_store(context.get(), trusted.get());
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return TlsClient{std::move(context)};
}

Result<OwnedSsl> TlsClient::connect(const std::string& name) const {
  OwnedSsl ssl{::SSL_new(context_.get())};
  if (!ssl) return openssl_error("SSL_new");
  X509_VERIFY_PARAM* const rules = ::SSL_get0_param(ssl.get());
  ::X509_VERIFY_PARAM_set_hostflags(
      rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool is_name = policy::is_canonical_name(name);
  const bool is_set = is_name
                          ? ::X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) == 1 &&
                                SSL_set_tlsext_host_name(ssl.get(), name.c_str()) == 1
                          : ::X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1;
  if (!is_set) return openssl_error("the name of the host", Errc::invalid);
  ::SSL_set_connect_state(ssl.get());
  return ssl;
}

std::string certificate_fault(const SSL* ssl) {
  const long fault = ::SSL_get_verify_result(ssl);
  return fault == X509_V_OK ? std::string{} : ::X509_verify_cert_error_string(fault);
}

}  // namespace cordon::egress
