// SPDX-License-Identifier: Apache-2.0
#include "egress/certificate_parts.h"

#include <array>
#include <cstddef>
#include <span>

#include "os/random.h"

namespace cordon::egress {
namespace {

using OwnedConstraints = std::unique_ptr<NAME_CONSTRAINTS, OpensslFree<&::NAME_CONSTRAINTS_free>>;
using OwnedSubtree = std::unique_ptr<GENERAL_SUBTREE, OpensslFree<&::GENERAL_SUBTREE_free>>;
using OwnedName = std::unique_ptr<GENERAL_NAME, OpensslFree<&::GENERAL_NAME_free>>;
using OwnedNames = std::unique_ptr<GENERAL_NAMES, OpensslFree<&::GENERAL_NAMES_free>>;

Status put_serial(X509* certificate) {
  TRY(auto bytes, os::random_bytes<16>());
  bytes[0] = (bytes[0] & std::byte{0x7F}) | std::byte{0x40};  // positive, of one length
  const std::unique_ptr<BIGNUM, OpensslFree<&::BN_free>> number{
      ::BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr)};
  if (!number ||
      ::BN_to_ASN1_INTEGER(number.get(), ::X509_get_serialNumber(certificate)) == nullptr)
    return openssl_error("BN_to_ASN1_INTEGER");
  return {};
}

bool put_time(ASN1_TIME* at, std::chrono::sys_seconds when) {
  return ::ASN1_TIME_set(at, std::chrono::system_clock::to_time_t(when)) != nullptr;
}

Result<OwnedCertificate> begin(EVP_PKEY* key) {
  OwnedCertificate certificate{::X509_new()};
  if (!certificate || ::X509_set_version(certificate.get(), X509_VERSION_3) != 1 ||
      ::X509_set_pubkey(certificate.get(), key) != 1)
    return openssl_error("X509_new");
  TRY_DO(put_serial(certificate.get()));
  return certificate;
}

// `text`: the name, or an address and its mask as bytes.
OwnedName general_name(int kind, std::span<const unsigned char> text) {
  OwnedName name{::GENERAL_NAME_new()};
  ASN1_STRING* const value =
      ::ASN1_STRING_type_new(kind == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING);
  if (!name || value == nullptr ||
      ::ASN1_STRING_set(value, text.data(), static_cast<int>(text.size())) != 1) {
    ::ASN1_STRING_free(value);
    return {};
  }
  ::GENERAL_NAME_set0_value(name.get(), kind, value);
  return name;
}

std::span<const unsigned char> bytes_of(std::string_view text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

Status append(STACK_OF(GENERAL_SUBTREE) * &subtrees, OwnedName name) {
  if (subtrees == nullptr) subtrees = sk_GENERAL_SUBTREE_new_null();
  OwnedSubtree subtree{::GENERAL_SUBTREE_new()};
  if (!name || !subtree || subtrees == nullptr) return openssl_error("GENERAL_SUBTREE_new");
  ::GENERAL_NAME_free(subtree->base);
  subtree->base = name.release();
  if (sk_GENERAL_SUBTREE_push(subtrees, subtree.get()) <= 0)
    return openssl_error("GENERAL_SUBTREE_push");
  [[maybe_unused]] auto* const kept = subtree.release();  // the stack's now
  return {};
}

}  // namespace

Result<OwnedCertificate> begin_certificate(EVP_PKEY* key, std::string_view name, const Life& life) {
  TRY(OwnedCertificate certificate, begin(key));
  X509_NAME* const subject = ::X509_get_subject_name(certificate.get());
  const auto text = bytes_of(name);
  if (::X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, text.data(),
                                   static_cast<int>(text.size()), -1, 0) != 1 ||
      ::X509_set_issuer_name(certificate.get(), subject) != 1 ||
      !put_time(::X509_getm_notBefore(certificate.get()), life.from) ||
      !put_time(::X509_getm_notAfter(certificate.get()), life.until))
    return openssl_error("X509_set_issuer_name");
  return certificate;
}

Result<OwnedCertificate> begin_leaf(EVP_PKEY* key, const Issuer& issuer) {
  TRY(OwnedCertificate certificate, begin(key));
  if (::X509_set_issuer_name(certificate.get(), ::X509_get_subject_name(issuer.certificate)) != 1 ||
      ::X509_set1_notBefore(certificate.get(), ::X509_get0_notBefore(issuer.certificate)) != 1 ||
      ::X509_set1_notAfter(certificate.get(), ::X509_get0_notAfter(issuer.certificate)) != 1)
    return openssl_error("X509_set_issuer_name");
  return certificate;
}

Status add_extension(X509* certificate, int nid, const char* value) {
  const OwnedExtension extension{::X509V3_EXT_conf_nid(nullptr, nullptr, nid, value)};
  if (!extension || ::X509_add_ext(certificate, extension.get(), -1) != 1)
    return openssl_error("X509_add_ext");
  return {};
}

Status add_name_constraints(X509* certificate, const std::vector<std::string>& names) {
  const OwnedConstraints constraints{::NAME_CONSTRAINTS_new()};
  if (!constraints) return openssl_error("NAME_CONSTRAINTS_new");
  for (const std::string_view name : names) {
    const auto bare = name.substr(name.starts_with("*.") ? 2 : 0);
    TRY_DO(append(constraints->permittedSubtrees, general_name(GEN_DNS, bytes_of(bare))));
  }
  // A constraint says nothing of names of other kinds: address and mask, all zero, are every one.
  constexpr std::array<unsigned char, 32> kEvery{};
  for (const std::size_t size : {8U, 32U}) {
    const auto every = std::span{kEvery}.first(size);
    TRY_DO(append(constraints->excludedSubtrees, general_name(GEN_IPADD, every)));
  }
  if (::X509_add1_ext_i2d(certificate, NID_name_constraints, constraints.get(), 1, 0) != 1)
    return openssl_error("X509_add1_ext_i2d");
  return {};
}

Status add_dns_name(X509* certificate, const std::string& name) {
  const OwnedNames names{sk_GENERAL_NAME_new_null()};
  OwnedName only = general_name(GEN_DNS, bytes_of(name));
  if (!names || !only || sk_GENERAL_NAME_push(names.get(), only.get()) <= 0)
    return openssl_error("GENERAL_NAME_push");
  [[maybe_unused]] auto* const kept = only.release();  // the stack's now
  if (::X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 1, 0) != 1)
    return openssl_error("X509_add1_ext_i2d");
  return {};
}

Status add_key_ids(X509* certificate, const Issuer& issuer) {
  for (const auto& [nid, value] : {std::pair{NID_subject_key_identifier, "hash"},
                                   std::pair{NID_authority_key_identifier, "keyid:always"}}) {
    X509V3_CTX context{};
    X509V3_set_ctx_nodb(&context);
    ::X509V3_set_ctx(&context, issuer.certificate, certificate, nullptr, nullptr, 0);
    const OwnedExtension extension{::X509V3_EXT_conf_nid(nullptr, &context, nid, value)};
    if (!extension || ::X509_add_ext(certificate, extension.get(), -1) != 1)
      return openssl_error("X509_add_ext");
  }
  return {};
}

Status sign_certificate(X509* certificate, const Issuer& issuer) {
  if (::X509_sign(certificate, issuer.key, ::EVP_sha256()) == 0) return openssl_error("X509_sign");
  return {};
}

}  // namespace cordon::egress
