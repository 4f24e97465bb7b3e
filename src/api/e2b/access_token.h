// SPDX-License-Identifier: Apache-2.0
// What opens the services of one sandbox: the same for as long as it lives, in every node that
// holds the key, and kept nowhere. (pure)
#pragma once

#include <string>
#include <string_view>

#include "token/mac.h"

namespace cordon::api::e2b {

enum class Door : std::uint8_t {
  services,  // its processes and files
  traffic,   // its ports
};

class AccessTokens {
 public:
  // `key`: the node's own; what is made of it leads to no other use of it.
  explicit AccessTokens(const token::Secret& key);

  std::string of(std::string_view sandbox, Door door) const;
  // Takes as long whichever letter differs.
  bool opens(std::string_view shown, std::string_view sandbox, Door door) const;

 private:
  token::Secret key_;
};

}  // namespace cordon::api::e2b
