// SPDX-License-Identifier: Apache-2.0
// TLS of a client that knows whom it means: 1.2 and later, HTTP/1.1 only, and a certificate of its
// own where servers ask for one.
#pragma once

#include <string>

#include "base/result.h"
#include "http/openssl.h"

namespace cordon::http {

// All in PEM, read by the caller before it gave up the right to.
struct ClientTlsFiles {
  std::string authorities;     // whose servers are believed, and nobody else's
  std::string certificates{};  // the client's own first; empty: it shows none
  std::string key{};           // without a passphrase
};

class ClientTls {
 public:
  static Result<ClientTls> create(const ClientTlsFiles& files);

  // For one connection: the handshake succeeds only with a certificate for exactly `name`, which
  // need not be an address or a name that anybody resolves.
  Result<OwnedSsl> connect(const std::string& name) const;

 private:
  explicit ClientTls(OwnedContext context) : context_{std::move(context)} {}
  OwnedContext context_;
};

}  // namespace cordon::http
