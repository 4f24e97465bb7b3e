// SPDX-License-Identifier: Apache-2.0
// Streams of sandboxes that an earlier launcher started, kept for whatever node comes next.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launcher/egress.h"
#include "os/fd.h"

namespace cordon::launcher {

// What one sandbox left: while it is held, its pid 1 lives and its range of ids is lent.
struct Deposited {
  os::Fd control;
  os::Fd range;  // the lock; empty where the sandbox has none
  std::optional<HeldNetwork> network;
};

// The last two of `fds`, where there are more than a stream and a lock, taken from them; else none.
// `invalid`: they are not what os::steer_own_network() gives.
Result<os::SteeredSockets> take_sockets(std::vector<os::Fd>& fds);

// All of it comes from a node that may be hostile: it is kept and handed on, never read from or
// signalled.
class Deposits {
 public:
  // `fds`: the control stream, then perhaps the lock. `invalid`: not of our alphabet, or other
  // descriptors than those. `exists`: one for each id.
  Status add(const std::string& id, std::vector<os::Fd> fds);
  // nullptr: there is none.
  Deposited* find(const std::string& id);
  // Closes it. False: there was none.
  bool remove(const std::string& id) { return held_.erase(id) == 1; }

  bool contains(const std::string& id) const { return held_.contains(id); }
  const std::map<std::string, Deposited>& all() const noexcept { return held_; }

 private:
  std::map<std::string, Deposited> held_;
};

}  // namespace cordon::launcher
