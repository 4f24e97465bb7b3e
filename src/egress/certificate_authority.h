// SPDX-License-Identifier: Apache-2.0
// The authority of one sandbox: certificates for the names whose TLS is terminated, and for no
// other.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "egress/openssl.h"

namespace cordon::egress {

// A certificate and its key, as a server shows them. Both belong to the authority.
struct Leaf {
  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
};

// Its key is nowhere but here and in what `to_bytes` gave. What it signs is bounded twice: `leaf`
// refuses other names, and clients refuse them by the critical name constraints of the certificate
// (which let addresses of no kind pass).
class CertificateAuthority {
 public:
  static constexpr std::chrono::seconds kMostLife = std::chrono::hours{24};
  // For clocks inside that go after ours.
  static constexpr std::chrono::seconds kBefore = std::chrono::minutes{5};
  // Of leaves held at once: names under a wildcard are chosen inside. One more puts out another.
  static constexpr std::size_t kMostLeaves = 256;

  // `names`: canonical names, or "*.x" for every name below x; not empty. Valid from five minutes
  // before `now` until `life` (at most 24 h) after it, less those five minutes where the whole
  // would be longer than 24 h.
  static Result<CertificateAuthority> create(const std::vector<std::string>& names, WallTime now,
                                             std::chrono::seconds life = kMostLife);

  // Names, certificate and key, as `from_bytes` reads them again: for a memory slot that outlives
  // the process.
  Result<SecretText> to_bytes() const;
  static Result<CertificateAuthority> from_bytes(std::string_view bytes);

  // For the bundle inside.
  Result<std::string> certificate_pem() const;

  // Denied: a name that was not given at making. The pointers are good until the next call for
  // another name; a connection takes its own references with SSL_use_certificate.
  Result<Leaf> leaf(const std::string& name);

  bool may_sign(std::string_view name) const noexcept;
  X509* certificate() const noexcept { return certificate_.get(); }

 private:
  struct OwnedLeaf {
    OwnedKey key;
    OwnedCertificate certificate;
  };
  CertificateAuthority(OwnedKey key, OwnedCertificate certificate, std::vector<std::string> names)
      : key_{std::move(key)}, certificate_{std::move(certificate)}, names_{std::move(names)} {}
  Result<OwnedLeaf> mint(const std::string& name) const;

  OwnedKey key_;
  OwnedCertificate certificate_;
  std::vector<std::string> names_;  // as given, "*.x" too
  std::map<std::string, OwnedLeaf, std::less<>> leaves_;
};

}  // namespace cordon::egress
