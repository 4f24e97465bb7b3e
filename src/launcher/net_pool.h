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
  // Starts the child, which makes `ahead` namespaces at once.
  static Result<NetPool> start(unsigned ahead);

  // One with nothing but a loopback link that is up. Waits where none is ready; asks for the next.
  Result<os::Fd> take();
  // The same without a next: for a launcher that will make no other sandbox.
  Result<os::Fd> take_last();

 private:
  NetPool(os::Child child, os::Fd socket) : child_{std::move(child)}, socket_{std::move(socket)} {}
  Status order(unsigned count) const;

  os::Child child_;
  os::Fd socket_;
};

}  // namespace cordon::launcher
