// SPDX-License-Identifier: Apache-2.0
// One grant of a credential as a sandbox has it.
#pragma once

#include <string>

#include "policy/document.h"

namespace cordon::node {

// The variable `env` of the grant holds the placeholder.
struct HeldGrant {
  policy::Grant grant;
  std::string placeholder;
  friend bool operator==(const HeldGrant&, const HeldGrant&) = default;
};

}  // namespace cordon::node
