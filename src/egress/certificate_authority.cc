// SPDX-License-Identifier: Apache-2.0
#include "egress/certificate_authority.h"

#include <algorithm>
#include <ctime>
#include <openssl/bn.h>
#include <openssl/pem.h>

#include "egress/certificate_parts.h"
#include "policy/host.h"

namespace cordon::egress {
namespace {

constexpr std::string_view kAuthorityName = "Cordon sandbox";

bool covers(std::string_view permitted, std::string_view name) noexcept {
  if (!permitted.starts_with("*.")) return permitted == name;
  const auto below = permitted.substr(1);
  return name.size() > below.size() && name.ends_with(below);
}

OwnedBio memory() { return OwnedBio{::BIO_new(::BIO_s_secmem())}; }

Result<std::string> text_of(const OwnedBio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  if (size <= 0) return openssl_error("BIO_get_mem_data");
  return std::string{data, static_cast<std::size_t>(size)};
}

}  // namespace

Result<CertificateAuthority> CertificateAuthority::create(const std::vector<std::string>& names,
                                                          WallTime now, std::chrono::seconds life) {
  start_openssl();
  if (names.empty()) return Error{Errc::invalid, "an authority without names"};
  for (const std::string& name : names) {
    const std::string_view bare = name;
    if (!policy::is_canonical_name(bare.substr(bare.starts_with("*.") ? 2 : 0)))
      return Error{Errc::invalid, "an authority signs for names in their one spelling"};
  }
  if (life <= std::chrono::seconds{0} || life > kMostLife)
    return Error{Errc::invalid, "an authority lives at most 24 h"};
  OwnedKey key{::EVP_EC_gen("P-256")};
  if (!key) return openssl_error("EVP_EC_gen");
  const auto from = std::chrono::floor<std::chrono::seconds>(now) - kBefore;
  const Life valid{.from = from, .until = from + std::min(kBefore + life, kMostLife)};
  TRY(OwnedCertificate certificate, begin_certificate(key.get(), kAuthorityName, valid));
  const Issuer itself{.certificate = certificate.get(), .key = key.get()};
  TRY_DO(add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  TRY_DO(add_extension(certificate.get(), NID_key_usage, "critical,keyCertSign"));
  TRY_DO(add_extension(certificate.get(), NID_ext_key_usage, "serverAuth"));
  TRY_DO(add_name_constraints(certificate.get(), names));
  TRY_DO(add_key_ids(certificate.get(), itself));
  TRY_DO(sign_certificate(certificate.get(), itself));
  return CertificateAuthority{std::move(key), std::move(certificate), names};
}

Result<SecretText> CertificateAuthority::to_bytes() const {
  const OwnedBio bio = memory();
  if (::PEM_write_bio_X509(bio.get(), certificate_.get()) != 1 ||
      ::PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return openssl_error("PEM_write_bio");
  TRY(std::string pem, text_of(bio));
  const SecretText kept{std::move(pem)};
  // Names first, a line each: X.509 cannot say "x but nothing below", and `leaf` can.
  std::string text;
  std::size_t size = kept.view().size();
  for (const std::string& name : names_) size += name.size() + 1;
  text.reserve(size);
  for (const std::string& name : names_) text.append(name).append("\n");
  return SecretText{std::move(text.append(kept.view()))};
}

Result<CertificateAuthority> CertificateAuthority::from_bytes(std::string_view bytes) {
  start_openssl();
  std::vector<std::string> names;
  while (!bytes.empty() && !bytes.starts_with("-----")) {
    const auto end = bytes.find('\n');
    if (end == std::string_view::npos) break;
    names.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
  const OwnedBio bio{::BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size()))};
  OwnedCertificate certificate{::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)};
  OwnedKey key{::PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr)};
  if (names.empty() || !certificate || !key ||
      ::X509_check_private_key(certificate.get(), key.get()) != 1)
    return openssl_error("the kept authority cannot be read", Errc::invalid);
  return CertificateAuthority{std::move(key), std::move(certificate), std::move(names)};
}

Result<std::string> CertificateAuthority::certificate_pem() const {
  const OwnedBio bio = memory();
  if (::PEM_write_bio_X509(bio.get(), certificate_.get()) != 1)
    return openssl_error("PEM_write_bio_X509");
  return text_of(bio);
}

bool CertificateAuthority::may_sign(std::string_view name) const noexcept {
  return std::ranges::any_of(names_, [&](const auto& known) { return covers(known, name); });
}

Result<Leaf> CertificateAuthority::leaf(const std::string& name) {
  if (const auto held = leaves_.find(name); held != leaves_.end())
    return Leaf{held->second.certificate.get(), held->second.key.get()};
  if (!policy::is_canonical_name(name) || !may_sign(name))
    return Error{Errc::denied, "the sandbox's authority does not sign for this name"};
  TRY(OwnedLeaf minted, mint(name));
  if (leaves_.size() >= kMostLeaves) leaves_.erase(leaves_.begin());
  const OwnedLeaf& kept = leaves_.emplace(name, std::move(minted)).first->second;
  return Leaf{kept.certificate.get(), kept.key.get()};
}

Result<CertificateAuthority::OwnedLeaf> CertificateAuthority::mint(const std::string& name) const {
  OwnedKey key{::EVP_EC_gen("P-256")};
  if (!key) return openssl_error("EVP_EC_gen");
  const Issuer issuer{.certificate = certificate_.get(), .key = key_.get()};
  TRY(OwnedCertificate certificate, begin_leaf(key.get(), issuer));
  TRY_DO(add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE"));
  TRY_DO(add_extension(certificate.get(), NID_key_usage, "critical,digitalSignature"));
  TRY_DO(add_extension(certificate.get(), NID_ext_key_usage, "serverAuth"));
  TRY_DO(add_dns_name(certificate.get(), name));
  TRY_DO(add_key_ids(certificate.get(), issuer));
  TRY_DO(sign_certificate(certificate.get(), issuer));
  return OwnedLeaf{.key = std::move(key), .certificate = std::move(certificate)};
}

}  // namespace cordon::egress
