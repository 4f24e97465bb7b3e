// SPDX-License-Identifier: Apache-2.0
// Certificates of a test's own authority, in PEM.
#pragma once

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string>

#include "http/openssl.h"

namespace cordon::http {

struct TestCertificate {
  OwnedKey key;
  OwnedCertificate certificate;

  std::string certificate_pem() const {
    const OwnedBio bio{::BIO_new(::BIO_s_mem())};
    ::PEM_write_bio_X509(bio.get(), certificate.get());
    return text(bio.get());
  }
  std::string key_pem() const {
    const OwnedBio bio{::BIO_new(::BIO_s_mem())};
    ::PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return text(bio.get());
  }

 private:
  static std::string text(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
  }
};

// Signed by `by`, or by itself: then it is an authority.
inline TestCertificate make_certificate(const std::string& name, const TestCertificate* by) {
  TestCertificate made{.key = OwnedKey{::EVP_EC_gen("P-256")},
                       .certificate = OwnedCertificate{::X509_new()}};
  X509* const it = made.certificate.get();
  ::X509_set_version(it, 2);
  static long serial = 0;
  ::ASN1_INTEGER_set(::X509_get_serialNumber(it), ++serial);
  ::X509_gmtime_adj(::X509_getm_notBefore(it), -3600);
  ::X509_gmtime_adj(::X509_getm_notAfter(it), 3600);
  ::X509_set_pubkey(it, made.key.get());
  X509_NAME* const subject = ::X509_get_subject_name(it);
  ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(name.data()),
                               static_cast<int>(name.size()), -1, 0);
  const TestCertificate& issuer = by != nullptr ? *by : made;
  ::X509_set_issuer_name(it, ::X509_get_subject_name(issuer.certificate.get()));
  X509V3_CTX context{};
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, issuer.certificate.get(), it, nullptr, nullptr, 0);
  const char* const kind = by == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE";
  X509_EXTENSION* const constraint =
      ::X509V3_EXT_conf_nid(nullptr, &context, NID_basic_constraints, kind);
  ::X509_add_ext(it, constraint, -1);
  ::X509_EXTENSION_free(constraint);
  ::X509_sign(it, issuer.key.get(), ::EVP_sha256());
  return made;
}

}  // namespace cordon::http
