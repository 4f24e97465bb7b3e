// SPDX-License-Identifier: Apache-2.0
#include "base/wiped.h"

#include <cstring>

namespace cordon {

void wipe(std::span<std::byte> bytes) noexcept {
  if (!bytes.empty()) ::explicit_bzero(bytes.data(), bytes.size());
}

}  // namespace cordon
