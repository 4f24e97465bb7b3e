// SPDX-License-Identifier: Apache-2.0
#include "os/conduit.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "os/file.h"

namespace cordon::os {
namespace {

constexpr int kLargest = 1 << 20;

Result<std::size_t> move(int from, int to, std::size_t most) {
  for (;;) {
    const ssize_t moved =
        ::splice(from, nullptr, to, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (moved >= 0) return static_cast<std::size_t>(moved);
    if (errno != EINTR) return Error::from_errno("splice");
  }
}

}  // namespace

Result<Conduit> Conduit::create() {
  TRY(Pipe pipe, pipe2());
  // A wish: the usual size serves too.
  static_cast<void>(::fcntl(pipe.write.get(), F_SETPIPE_SZ, kLargest));
  return Conduit{std::move(pipe.read), std::move(pipe.write)};
}

Result<std::size_t> Conduit::fill(int socket, std::size_t most) {
  return move(socket, in_.get(), most);
}

Result<std::size_t> Conduit::drain(int socket, std::size_t most) {
  return move(out_.get(), socket, most);
}

Status Conduit::take(std::span<char> room) {
  while (!room.empty()) {
    const ssize_t got = ::read(out_.get(), room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("read");
    if (got == 0) return Error{Errc::internal, "a conduit holds less than was put into it"};
    room = room.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace cordon::os
