// SPDX-License-Identifier: Apache-2.0
#include "egress/openssl.h"

#include <openssl/crypto.h>

namespace cordon::egress {

void wipe(std::string& text) noexcept {
  text.resize(text.capacity());
  ::OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

}  // namespace cordon::egress
