// SPDX-License-Identifier: Apache-2.0
// The authorities that vouch for hosts outside.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "egress/openssl.h"

namespace cordon::egress {

// Read once, at the start: nothing opens a file later. Neither a flag nor a variable of the
// environment names another one.
class TrustStore {
 public:
  // The system's bundle, from the first place where distributions keep it. not_found: from none of
  // them.
  static Result<TrustStore> load();

  // Certificates one after the other; other text between them is passed over. Invalid: none, or one
  // that cannot be read.
  static Result<TrustStore> from_pem(std::string_view pem);

  // Vouches for nobody: every host is refused.
  static Result<TrustStore> none();

  std::size_t size() const noexcept { return size_; }
  X509_STORE* get() const noexcept { return store_.get(); }

 private:
  TrustStore(OwnedStore store, std::size_t size) : store_{std::move(store)}, size_{size} {}

  OwnedStore store_;
  std::size_t size_;
};

}  // namespace cordon::egress
