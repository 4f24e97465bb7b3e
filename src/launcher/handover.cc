// SPDX-License-Identifier: Apache-2.0
#include "launcher/handover.h"

#include <array>

#include "os/socket.h"

namespace cordon::launcher {

Status hand_over(os::Fd& control) {
  TRY(os::SocketPair pair, os::socketpair(os::SocketType::stream));
  // Of the old stream, and so of nobody who matters when this has succeeded.
  TRY_DO(os::set_nonblocking(control, true));
  const std::array<std::byte, 1> mark{};
  const std::array<const os::Fd*, 1> fds{&pair.two};
  if (!os::send(control, mark, fds)) {
    return Error{Errc::unavailable, "the sandbox does not take its stream"};
  }
  control = std::move(pair.one);
  return {};
}

}  // namespace cordon::launcher
