// SPDX-License-Identifier: Apache-2.0
// getrandom in a loop: above 256 bytes a signal may cut it short.
#include "os/random.h"

#include <cerrno>
#include <sys/random.h>

namespace cordon::os {

Status getrandom(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("getrandom");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace cordon::os
