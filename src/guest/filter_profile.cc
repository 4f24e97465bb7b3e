// SPDX-License-Identifier: Apache-2.0
#include "guest/filter_profile.h"

#include <cerrno>
#include <string>

namespace cordon::guest {

Result<std::span<const sock_filter>> find_filter(std::string_view name) {
  return Error::from_errno("filter", ENOENT).with(name);
}

}  // namespace cordon::guest
