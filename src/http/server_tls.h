// SPDX-License-Identifier: Apache-2.0
// TLS of a server: 1.2 and later, HTTP/1.1 only, and clients that prove who they are where asked.
#pragma once

#include <string>

#include "base/result.h"
#include "http/openssl.h"

namespace cordon::http {

// All in PEM, read by the caller before it gave up the right to.
struct ServerTlsFiles {
  std::string certificates;  // the server's own first, then those between it and the authority
  std::string key;           // without a passphrase
  std::string client_authorities{};  // not empty: only clients with a certificate of theirs
};

// Each connection keeps what it was begun with: a new one may take the place of an old one at any
// time.
class ServerTls {
 public:
  // Refused also: a key that is not the certificate's.
  static Result<ServerTls> create(const ServerTlsFiles& files);

  // For one connection.
  Result<OwnedSsl> accept() const;

 private:
  explicit ServerTls(OwnedContext context) : context_{std::move(context)} {}
  OwnedContext context_;
};

// The subject of the certificate that the client has proven; empty: it showed none.
std::string proven_subject(const SSL* ssl);

}  // namespace cordon::http
