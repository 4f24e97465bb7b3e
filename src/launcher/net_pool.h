// SPDX-License-Identifier: Apache-2.0
// Network namespaces, made ahead by a child of the launcher: they are half of a sandbox's cost.
#pragma once

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

// Each namespace is used once. They belong to the launcher's user namespace, so that no capability
// inside a sandbox reaches them.
class NetPool {
 public:
  // Starts the child, which makes `ahead` namespaces at once. `refill`: for each that is taken it
  // makes the next; otherwise later ones are made when they are asked for.
  static Result<NetPool> start(unsigned ahead, bool refill);

  // One with nothing but a loopback link that is up. Waits where none is ready.
  Result<os::Fd> take();

 private:
  NetPool(os::Child child, os::Fd socket, bool refill)
      : child_{std::move(child)}, socket_{std::move(socket)}, refill_{refill} {}
  Status order(unsigned count);

  os::Child child_;
  os::Fd socket_;
  bool refill_;
  unsigned ordered_ = 0;
};

}  // namespace cordon::launcher
