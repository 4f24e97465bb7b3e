// SPDX-License-Identifier: Apache-2.0
#include "http/refusal.h"

#include <fmt/format.h>

namespace cordon::http {

Error refused(std::string_view where, std::uint64_t at, std::string_view rule, Errc code) {
  return {code, fmt::format("{} byte {}: {}", where, at, rule)};
}

int status_for(const Error& error) noexcept {
  switch (error.code()) {
    case Errc::invalid:
      return 400;
    case Errc::exhausted:
      return 431;
    case Errc::denied:
      return 405;
    case Errc::unavailable:
      return 505;
    default:
      return 500;
  }
}

}  // namespace cordon::http
