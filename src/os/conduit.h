// SPDX-License-Identifier: Apache-2.0
// Moving bytes from one socket to another without copying them: through a pipe of our own.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Of one thread, between sockets that do not block: an error for which would_wait() holds says that
// there is nothing, or no room, yet. Whoever fills it leaves it empty.
class Conduit {
 public:
  // As large as the host lets it be, up to a megabyte.
  static Result<Conduit> create();

  // What the socket has, at most so much. 0: its peer has ended. Before: it is empty.
  Result<std::size_t> fill(int socket, std::size_t most);
  // Gives how much the socket took, of at most so much. Before: so much is in it.
  Result<std::size_t> drain(int socket, std::size_t most);
  // What is left, into memory. Before: at least so much is in it.
  Status take(std::span<char> room);

 private:
  Conduit(Fd out, Fd in) : out_{std::move(out)}, in_{std::move(in)} {}
  Fd out_;
  Fd in_;
};

}  // namespace cordon::os
