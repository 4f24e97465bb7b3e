// SPDX-License-Identifier: Apache-2.0
// OpenSSL's objects under their names here, and texts that leave nothing behind.
#pragma once

#include <memory>
#include <openssl/x509v3.h>
#include <string>
#include <string_view>
#include <utility>

#include "http/openssl.h"

namespace cordon::egress {

using http::openssl_error;
using http::OpensslFree;
using http::OwnedBio;
using http::OwnedCertificate;
using http::OwnedContext;
using http::OwnedKey;
using http::OwnedSsl;
using http::OwnedStore;
using http::start_openssl;
using OwnedExtension = std::unique_ptr<X509_EXTENSION, OpensslFree<&::X509_EXTENSION_free>>;

// Overwrites the text, and the room that it had, and empties it.
void wipe(std::string& text) noexcept;

// A text that is overwritten when it goes. Made once in its full size: a text that grows leaves
// copies behind.
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(std::string text) noexcept : text_{std::move(text)} { wipe(text); }
  SecretText(SecretText&& other) noexcept : text_{std::move(other.text_)} { wipe(other.text_); }
  SecretText& operator=(SecretText&& other) noexcept {
    wipe(text_);
    text_ = std::move(other.text_);
    wipe(other.text_);
    return *this;
  }
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;
  ~SecretText() { wipe(text_); }

  std::string_view view() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }
  void clear() noexcept { wipe(text_); }

 private:
  std::string text_;
};

}  // namespace cordon::egress
