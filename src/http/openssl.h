// SPDX-License-Identifier: Apache-2.0
// OpenSSL's objects with owners, and its failures as words.
#pragma once

#include <memory>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string_view>

#include "base/result.h"

namespace cordon::http {

template <auto kFree>
struct OpensslFree {
  template <class T>
  void operator()(T* object) const noexcept {
    kFree(object);
  }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, OpensslFree<&::EVP_PKEY_free>>;
using OwnedCertificate = std::unique_ptr<X509, OpensslFree<&::X509_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, OpensslFree<&::SSL_CTX_free>>;
using OwnedSsl = std::unique_ptr<SSL, OpensslFree<&::SSL_free>>;
using OwnedStore = std::unique_ptr<X509_STORE, OpensslFree<&::X509_STORE_free>>;
using OwnedBio = std::unique_ptr<BIO, OpensslFree<&::BIO_free_all>>;

// Starts the library without its configuration file: that file, and the variable that names
// another, could weaken what is set here. Before any other use of the library in the process;
// further calls do nothing. Every factory that makes its objects calls it.
void start_openssl();

// "CALL: what OpenSSL says of its last failure"; empties OpenSSL's queue.
Error openssl_error(std::string_view call, Errc code = Errc::internal);

}  // namespace cordon::http
