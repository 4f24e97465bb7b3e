// SPDX-License-Identifier: Apache-2.0
#include "os/poll.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>

namespace cordon::os {

Result<bool> wait_readable(const Fd& fd, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd waits{.fd = fd.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(
        &waits, 1, static_cast<int>(std::max<std::chrono::milliseconds::rep>(0, left.count())));
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) return Error::from_errno("poll");
  }
}

}  // namespace cordon::os
