// SPDX-License-Identifier: Apache-2.0
// TLS as it is spoken here: 1.2 and later, HTTP/1.1 only, no renegotiation, nothing resumed.
#pragma once

#include <string>

#include "base/result.h"
#include "egress/certificate_authority.h"
#include "egress/openssl.h"
#include "egress/trust_store.h"

namespace cordon::egress {

// Towards sandboxes. One for the process: it holds neither keys nor sessions.
class TlsServer {
 public:
  static Result<TlsServer> create();

  // For one connection, which shows `leaf` and refuses clients that ask for another name than it
  // has, or for none.
  Result<OwnedSsl> accept(const Leaf& leaf) const;

 private:
  explicit TlsServer(OwnedContext context) : context_{std::move(context)} {}
  OwnedContext context_;
};

// Towards hosts outside. One for the process.
class TlsClient {
 public:
  static Result<TlsClient> create(const TrustStore& trusted);

  // For one connection to `name`: the handshake succeeds only with a chain to a trusted authority
  // and a certificate for exactly this name (or address).
  Result<OwnedSsl> connect(const std::string& name) const;

 private:
  explicit TlsClient(OwnedContext context) : context_{std::move(context)} {}
  OwnedContext context_;
};

// Why the certificate of the other side was refused; empty: it was not.
std::string certificate_fault(const SSL* ssl);

}  // namespace cordon::egress
