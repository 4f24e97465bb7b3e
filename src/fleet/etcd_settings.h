// SPDX-License-Identifier: Apache-2.0
// Where a cluster of etcd is and by what one proves who one is, as an operator writes it (pure).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/section.h"

namespace cordon::fleet {

// Files in PEM. All three, or none: then neither TLS nor rights.
struct IdentityFiles {
  std::string authority;  // whom the other side is certified by
  std::string certificate;
  std::string key;
  friend bool operator==(const IdentityFiles&, const IdentityFiles&) = default;
};

// What is wrong goes to the problems of `section`, which is called `whose`.
IdentityFiles read_identity(const policy::Section& section, std::string_view whose);
std::vector<std::string> read_members(const policy::Section& section, std::string_view whose);

}  // namespace cordon::fleet
