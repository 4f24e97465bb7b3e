// SPDX-License-Identifier: Apache-2.0
// The parts of which certificates are put together.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "egress/openssl.h"

namespace cordon::egress {

struct Life {
  std::chrono::sys_seconds from, until;
};

struct Issuer {
  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
};

// X.509 version 3, a random serial number of 127 bits; `name` is subject and issuer.
Result<OwnedCertificate> begin_certificate(EVP_PKEY* key, std::string_view name, const Life& life);

// The same without a subject, of the issuer and as long-lived as it.
Result<OwnedCertificate> begin_leaf(EVP_PKEY* key, const Issuer& issuer);

// `value` is a constant of ours in OpenSSL's own language, never text from outside.
Status add_extension(X509* certificate, int nid, const char* value);

// Critical: permits these names and all below them, as X.509 has it ("*.x" is x there), and no
// address.
Status add_name_constraints(X509* certificate, const std::vector<std::string>& names);

// Critical, because there is no subject.
Status add_dns_name(X509* certificate, const std::string& name);

Status add_key_ids(X509* certificate, const Issuer& issuer);
Status sign_certificate(X509* certificate, const Issuer& issuer);

}  // namespace cordon::egress
