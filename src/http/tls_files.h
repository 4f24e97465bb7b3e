// SPDX-License-Identifier: Apache-2.0
// Certificates, keys and authorities in PEM, given to a context of TLS.
#pragma once

#include <string>

#include "base/result.h"
#include "http/openssl.h"

namespace cordon::http {

// The own certificate first, then those between it and its authority. All: Errc::invalid where the
// text is not that.
Status use_certificates(SSL_CTX* context, const std::string& text);

// Without a passphrase; of the certificate that is used already.
Status use_key(SSL_CTX* context, const std::string& text);

enum class Towards : bool { clients, servers };

// The other side shows a certificate of one of these authorities, or the handshake fails.
Status require_peers(SSL_CTX* context, const std::string& text, Towards whom);

}  // namespace cordon::http
