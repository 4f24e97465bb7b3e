// SPDX-License-Identifier: Apache-2.0
#include "egress/certificate_authority.h"

#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include <gtest/gtest.h>

#include "egress/certificate_parts.h"

namespace cordon::egress {
namespace {

using namespace std::chrono_literals;

WallTime now() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

CertificateAuthority made(const std::vector<std::string>& names, std::chrono::seconds life = 24h) {
  auto authority = CertificateAuthority::create(names, now(), life);
  EXPECT_TRUE(authority) << authority.error().text();
  return *std::move(authority);
}

// As a client that trusts `root` judges `certificate` for `name`, `later` from now.
int verdict(X509* root, X509* certificate, const char* name, std::chrono::seconds later = 0s) {
  const OwnedStore store{::X509_STORE_new()};
  ::X509_STORE_add_cert(store.get(), root);
  const std::unique_ptr<X509_STORE_CTX, OpensslFree<&::X509_STORE_CTX_free>> context{
      ::X509_STORE_CTX_new()};
  ::X509_STORE_CTX_init(context.get(), store.get(), certificate, nullptr);
  ::X509_STORE_CTX_set_default(context.get(), "ssl_server");
  X509_VERIFY_PARAM* const param = ::X509_STORE_CTX_get0_param(context.get());
  ::X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
  ::X509_VERIFY_PARAM_set1_host(param, name, 0);
  ::X509_VERIFY_PARAM_set_time(param, std::chrono::system_clock::to_time_t(now() + later));
  ::X509_verify_cert(context.get());
  return ::X509_STORE_CTX_get_error(context.get());
}

// What somebody with the authority's key could sign: `extension` as OpenSSL spells it.
OwnedCertificate forged(const CertificateAuthority& authority, const char* names) {
  const auto bytes = authority.to_bytes();
  const auto text = bytes->view().substr(bytes->view().find("-----BEGIN PRIVATE"));
  const OwnedBio bio{::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
  const OwnedKey signer{::PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr)};
  const OwnedKey key{::EVP_EC_gen("P-256")};
  const Issuer issuer{.certificate = authority.certificate(), .key = signer.get()};
  auto certificate = begin_leaf(key.get(), issuer);
  EXPECT_TRUE(add_extension(certificate->get(), NID_basic_constraints, "critical,CA:FALSE"));
  EXPECT_TRUE(add_extension(certificate->get(), NID_subject_alt_name, names));
  EXPECT_TRUE(add_key_ids(certificate->get(), issuer));
  EXPECT_TRUE(sign_certificate(certificate->get(), issuer));
  return *std::move(certificate);
}

TEST(CertificateAuthority, SignsForItsNamesOnly) {
  auto authority = made({"api.example.com", "*.wild.example"});
  for (const char* name : {"api.example.com", "a.wild.example", "a.b.wild.example"}) {
    const auto leaf = authority.leaf(name);
    ASSERT_TRUE(leaf) << name;
    EXPECT_EQ(verdict(authority.certificate(), leaf->certificate, name), X509_V_OK) << name;
    EXPECT_EQ(verdict(authority.certificate(), leaf->certificate, "other.example.com"),
              X509_V_ERR_HOSTNAME_MISMATCH);
  }
  for (const char* name :
       {"example.com", "x.api.example.com", "evil.test", "wild.example", "xwild.example",
        "API.example.com", "api.example.com.", "*.wild.example", "127.0.0.1", "", "a b"}) {
    const auto leaf = authority.leaf(name);
    ASSERT_FALSE(leaf) << name;
    EXPECT_EQ(leaf.error().code(), Errc::denied) << name;
  }
}

TEST(CertificateAuthority, IsTrustedForItsNamesOnlyEvenWithItsKeyStolen) {
  const auto authority = made({"api.example.com"});
  const auto judged = [&](const char* names, const char* host) {
    return verdict(authority.certificate(), forged(authority, names).get(), host);
  };
  EXPECT_EQ(judged("critical,DNS:api.example.com", "api.example.com"), X509_V_OK);
  EXPECT_EQ(judged("critical,DNS:evil.test", "evil.test"), X509_V_ERR_PERMITTED_VIOLATION);
  EXPECT_EQ(judged("critical,DNS:example.com", "example.com"), X509_V_ERR_PERMITTED_VIOLATION);
  EXPECT_EQ(judged("critical,DNS:api.example.com,DNS:evil.test", "evil.test"),
            X509_V_ERR_PERMITTED_VIOLATION);
  EXPECT_EQ(judged("critical,DNS:api.example.com,IP:192.0.2.1", "api.example.com"),
            X509_V_ERR_EXCLUDED_VIOLATION);
  EXPECT_EQ(judged("critical,DNS:api.example.com,IP:2001:db8::1", "api.example.com"),
            X509_V_ERR_EXCLUDED_VIOLATION);
}

TEST(CertificateAuthority, LivesAtMostADay) {
  auto authority = made({"api.example.com"}, 24h);
  const auto leaf = authority.leaf("api.example.com");
  ASSERT_TRUE(leaf);
  const auto at = [&](std::chrono::seconds later) {
    return verdict(authority.certificate(), leaf->certificate, "api.example.com", later);
  };
  EXPECT_EQ(at(-4min), X509_V_OK);
  EXPECT_EQ(at(23h), X509_V_OK);
  EXPECT_EQ(at(24h - 4min), X509_V_ERR_CERT_HAS_EXPIRED);
  EXPECT_EQ(at(-6min), X509_V_ERR_CERT_NOT_YET_VALID);
  EXPECT_FALSE(CertificateAuthority::create({"a.example"}, now(), 24h + 1s));
  EXPECT_FALSE(CertificateAuthority::create({"a.example"}, now(), 0s));

  auto brief = made({"api.example.com"}, 1h);
  const auto soon = brief.leaf("api.example.com");
  ASSERT_TRUE(soon);
  EXPECT_EQ(verdict(brief.certificate(), soon->certificate, "api.example.com", 59min), X509_V_OK);
  EXPECT_EQ(verdict(brief.certificate(), soon->certificate, "api.example.com", 61min),
            X509_V_ERR_CERT_HAS_EXPIRED);
}

TEST(CertificateAuthority, SignsNoOtherAuthority) {
  const auto authority = made({"api.example.com"});
  EXPECT_EQ(::X509_get_pathlen(authority.certificate()), 0);
  EXPECT_EQ(::X509_get_key_usage(authority.certificate()), KU_KEY_CERT_SIGN);
  const int at = ::X509_get_ext_by_NID(authority.certificate(), NID_name_constraints, -1);
  ASSERT_GE(at, 0);
  EXPECT_EQ(::X509_EXTENSION_get_critical(::X509_get_ext(authority.certificate(), at)), 1);
}

TEST(CertificateAuthority, RefusesNamesInOtherSpellings) {
  for (const std::string name :
       {"", "*", "*.", "A.example", "a.example.", "a.example,IP:10.0.0.1", "a\n.example"})
    EXPECT_FALSE(CertificateAuthority::create({name}, now())) << name;
  EXPECT_FALSE(CertificateAuthority::create({}, now()));
}

TEST(CertificateAuthority, OutlivesItsProcess) {
  auto authority = made({"api.example.com", "*.wild.example"});
  const auto bytes = authority.to_bytes();
  ASSERT_TRUE(bytes);
  auto again = CertificateAuthority::from_bytes(bytes->view());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again->certificate_pem(), *authority.certificate_pem());
  const auto leaf = again->leaf("x.wild.example");
  ASSERT_TRUE(leaf);
  EXPECT_EQ(verdict(authority.certificate(), leaf->certificate, "x.wild.example"), X509_V_OK);
  EXPECT_FALSE(again->leaf("evil.test"));

  std::string cut{bytes->view()};
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, cut.size() / 2, cut.size() - 40})
    EXPECT_FALSE(CertificateAuthority::from_bytes(std::string_view{cut}.substr(0, size))) << size;
}

TEST(CertificateAuthority, MintsALeafOnceAndBoundsWhatItHolds) {
  auto authority = made({"*.wild.example"});
  EXPECT_EQ(authority.leaf("a.wild.example")->certificate,
            authority.leaf("a.wild.example")->certificate);
  for (std::size_t i = 0; i < CertificateAuthority::kMostLeaves + 10; ++i)
    ASSERT_TRUE(authority.leaf("n" + std::to_string(i) + ".wild.example"));
}

TEST(SecretText, LeavesNothingBehind) {
  std::string text(40, 's');
  std::string seen;
  {
    SecretText secret{std::move(text)};
    const char* const at = secret.view().data();
    secret.clear();
    seen.assign(at, 40);  // still owned, though empty
  }
  EXPECT_EQ(seen.find('s'), std::string::npos);
}

}  // namespace
}  // namespace cordon::egress
