// SPDX-License-Identifier: Apache-2.0
#include "guest/probe_kernel.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "frame/guest.h"

namespace cordon::guest {

std::uint32_t probe_kernel() {
  struct statx facts{};
  const bool has_statx = ::statx(AT_FDCWD, "/", AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &facts) == 0;
  const bool has_ambient = ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0;
  return (has_statx ? 0 : frame::kLacksStatx) | (has_ambient ? 0 : frame::kLacksAmbient);
}

}  // namespace cordon::guest
