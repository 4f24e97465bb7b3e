// SPDX-License-Identifier: Apache-2.0
#include "os/pipe_size.h"

#include <fcntl.h>

namespace cordon::os {

void widen_pipe(const Fd& end, std::size_t bytes) noexcept {
  static_cast<void>(::fcntl(end.get(), F_SETPIPE_SZ, static_cast<int>(bytes)) < 0);
}

}  // namespace cordon::os
