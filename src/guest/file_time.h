// SPDX-License-Identifier: Apache-2.0
// When a file was changed, as frames tell it and as the system wants it.
#pragma once

#include <cstdint>
#include <ctime>

namespace cordon::guest {

inline timespec time_of(std::uint64_t nanoseconds) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return {.tv_sec = static_cast<time_t>(nanoseconds / kSecond),
          .tv_nsec = static_cast<long>(nanoseconds % kSecond)};
}

}  // namespace cordon::guest
