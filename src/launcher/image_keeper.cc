// SPDX-License-Identifier: Apache-2.0
#include "launcher/image_keeper.h"

#include <array>

#include "launcher/own_program.h"
#include "os/socket.h"

namespace cordon::launcher {

Result<os::Fd> ImageKeeper::open() {
  if (store_.empty()) {
    return Error{Errc::unavailable,
                 "the floor names no store of images that a node adds to: image_store = DIRECTORY"};
  }
  child_.reset();  // ends it: there is one at a time
  TRY(os::SocketPair link, os::socketpair(os::SocketType::seqpacket));
  const std::array<const os::Fd*, 1> fds{&link.two};
  TRY(os::Child child,
      start_own_program({.arguments = {"cordon-keeper", "--serve", store_}, .fds = fds},
                        [](const Error& /*its socket ends*/) {}));
  child_.emplace(std::move(child));
  return std::move(link.one);
}

}  // namespace cordon::launcher
