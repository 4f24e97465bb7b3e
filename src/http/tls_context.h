// SPDX-License-Identifier: Apache-2.0
// TLS as it is spoken by all of ours: 1.2 and later, HTTP/1.1 only, no renegotiation, nothing
// resumed.
#pragma once

#include "base/result.h"
#include "http/openssl.h"

namespace cordon::http {

// Accepts clients that offer HTTP/1.1, or no protocol at all. It has no certificate yet.
Result<OwnedContext> server_context();

// Offers HTTP/1.1. It trusts nobody yet, and does not verify.
Result<OwnedContext> client_context();

}  // namespace cordon::http
