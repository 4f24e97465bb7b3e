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
  // Starts the child, which makes `ahead` namespaces at once. `refills`: there are to be so many
  // again when nobody waits; otherwise later ones are made when they are asked for.
  static Result<NetPool> start(unsigned ahead, bool refills);

  // One with nothing but a loopback link that is up. Waits where none is ready.
  Result<os::Fd> take();

  // Whether there is something to do when nobody waits; false after a failure, until the next take.
  bool wants_more() const noexcept { return !failed_ && ordered_ < ahead_; }
  // Orders what is missing. Not when one is taken: its maker would want the processor that the
  // sandbox needs just then.
  void refill();

 private:
  NetPool(os::Child child, os::Fd socket, unsigned ahead)
      : child_{std::move(child)}, socket_{std::move(socket)}, ahead_{ahead} {}
  Status order(unsigned count);

  os::Child child_;
  os::Fd socket_;
  unsigned ahead_;
  unsigned ordered_ = 0;  // and not taken yet
  bool failed_ = false;
};

}  // namespace cordon::launcher
