// SPDX-License-Identifier: Apache-2.0
// Network namespaces, made ahead by a child of the launcher: they are half of a sandbox's cost.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"
#include "os/steering.h"

namespace cordon::launcher {

enum class NetKind : std::uint8_t {
  bare,     // nothing but a loopback link that is up
  steered,  // everything that wants out arrives at two sockets (os/steering.h)
};

struct Network {
  os::Fd netns;
  os::SteeredSockets sockets;  // empty where it is bare
};

// Each namespace is used once. They belong to the launcher's user namespace, so that no capability
// inside a sandbox reaches them.
class NetPool {
 public:
  // Starts the child, which makes `ahead` namespaces at once. `refills`: there are to be so many
  // again when nobody waits; otherwise later ones are made when they are asked for.
  static Result<NetPool> start(NetKind kind, unsigned ahead, bool refills);

  // Waits where none is ready.
  Result<Network> take();

  // Whether there is something to do when nobody waits; false after a failure, until the next take.
  bool wants_more() const noexcept { return !failed_ && ordered_ < ahead_; }
  // Orders what is missing. Not when one is taken: its maker would want the processor that the
  // sandbox needs just then.
  void refill();
  bool refills() const noexcept { return refills_; }
  unsigned ahead() const noexcept { return first_; }

 private:
  NetPool(NetKind kind, os::Child child, os::Fd socket, unsigned ahead, bool refills)
      : kind_{kind},
        child_{std::move(child)},
        socket_{std::move(socket)},
        first_{ahead},
        refills_{refills},
        ahead_{refills ? ahead : 0} {}
  Status order(unsigned count);

  NetKind kind_;
  os::Child child_;
  os::Fd socket_;
  unsigned first_;  // how many are made at the start
  bool refills_;
  unsigned ahead_;
  unsigned ordered_ = 0;  // and not taken yet
  bool failed_ = false;
};

}  // namespace cordon::launcher
