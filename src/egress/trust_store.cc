// SPDX-License-Identifier: Apache-2.0
#include "egress/trust_store.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "os/file.h"
#include "os/system_bundles.h"

namespace cordon::egress {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 20U;

}  // namespace

Result<TrustStore> TrustStore::load() {
  for (const char* const path : os::kSystemBundles) {
    auto pem = os::read_file(os::at_cwd(), path, kMostBytes);
    if (!pem && pem.error().code() == Errc::not_found) continue;
    if (!pem) return std::move(pem).error().with(path);
    auto store = from_pem(*pem);
    if (!store) return std::move(store).error().with(path);
    return store;
  }
  return Error{Errc::not_found, "no bundle of certificate authorities on this host"};
}

Result<TrustStore> TrustStore::none() {
  start_openssl();
  OwnedStore store{::X509_STORE_new()};
  if (!store) return openssl_error("X509_STORE_new");
  return TrustStore{std::move(store), 0};
}

Result<TrustStore> TrustStore::from_pem(std::string_view pem) {
  start_openssl();
  OwnedStore store{::X509_STORE_new()};
  const OwnedBio bio{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  if (!store || !bio) return openssl_error("X509_STORE_new");
  std::size_t size = 0;
  while (const OwnedCertificate certificate{
      ::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    if (::X509_STORE_add_cert(store.get(), certificate.get()) != 1)
      return openssl_error("X509_STORE_add_cert");
    ++size;
  }
  // The end of the text is the one failure that is none.
  if (ERR_GET_REASON(::ERR_peek_last_error()) != PEM_R_NO_START_LINE || size == 0)
    return openssl_error("a bundle of certificates", Errc::invalid);
  ::ERR_clear_error();
  return TrustStore{std::move(store), size};
}

}  // namespace cordon::egress
