// SPDX-License-Identifier: Apache-2.0
// Where a node comes in: the service's own socket.
#pragma once

#include <string>
#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// Owns the socket's name: it goes with this.
class Door {
 public:
  // Listens at `path`, as a socket that only `node` may connect to (0600, its own). Before: its
  // directory is ours and writable for nobody else (denied). A socket that a launcher left there is
  // replaced; `exists`: one answers, or what is there is no socket.
  static Result<Door> open(const std::string& path, uid_t node);
  Door(Door&&) noexcept = default;
  Door& operator=(Door&&) = delete;
  ~Door();

  const os::Fd& listener() const noexcept { return listener_; }
  // Who waits. `denied`: another uid than the node's, to whom the connection is closed with a word.
  // It never waits on its peer.
  Result<os::Fd> accept() const;

 private:
  Door(os::Fd directory, std::string name, os::Fd listener, uid_t node)
      : directory_{std::move(directory)},
        name_{std::move(name)},
        listener_{std::move(listener)},
        node_{node} {}

  os::Fd directory_;
  std::string name_;
  os::Fd listener_;
  uid_t node_;
};

// The word to one that is not let in.
void turn_away(const os::Fd& peer, const std::string& code, const std::string& text);

}  // namespace cordon::launcher
