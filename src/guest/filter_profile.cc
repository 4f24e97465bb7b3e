// SPDX-License-Identifier: Apache-2.0
#include "guest/filter_profile.h"

#include <cerrno>
#include <string>

#include "os/filter/filter.h"

namespace cordon::guest {

Result<std::span<const sock_filter>> find_filter(std::string_view name) {
  const auto profile = os::filter_profile_from_string(name);
  if (!profile) return Error::from_errno("filter", ENOENT).with(name);
  // Pid 1's own allows more than a workload may.
  if (*profile == os::FilterProfile::init) return Error::from_errno("filter", EINVAL).with(name);
  return os::filter_program(*profile);
}

}  // namespace cordon::guest
