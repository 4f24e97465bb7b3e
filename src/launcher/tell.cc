// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell.h"

#include "os/socket.h"

namespace cordon::launcher {

Status tell(const os::Fd& control, const frame::ToGuest& frame) {
  const auto encoded = frame::encode(frame);
  TRY(const std::size_t sent, os::send(control, encoded));
  if (sent != encoded.size()) return Error{Errc::internal, "the frame does not fit the stream"};
  return {};
}

}  // namespace cordon::launcher
