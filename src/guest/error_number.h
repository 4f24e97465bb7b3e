// SPDX-License-Identifier: Apache-2.0
// An error as the host is told it: by the system's number.
#pragma once

#include <cerrno>

#include "base/result.h"

namespace cordon::guest {

// EIO for one that is not the system's.
inline int number_of(const Error& error) {
  const int number = error.cause().value();
  return number != 0 ? number : EIO;
}

}  // namespace cordon::guest
