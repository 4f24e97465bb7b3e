// SPDX-License-Identifier: Apache-2.0
// The sockets at which a node listens, kept for the next one: who connects while there is none
// waits, and is not refused.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::launcher {

// They come from a node that may be hostile: kept and handed on, never accepted from.
class Listeners {
 public:
  static constexpr std::size_t kMost = 8;

  struct Kept {
    std::string address;  // as the node calls it
    os::Fd socket;
  };
  // In place of an earlier one of that name. `invalid`: a name that is not of lower-case letters
  // and digits, or no socket that listens. `exhausted`: there are kMost others.
  Status keep(const std::string& name, Kept kept);
  void forget(const std::string& name) { held_.erase(name); }
  // nullptr: there is none.
  const Kept* find(const std::string& name) const;

 private:
  std::map<std::string, Kept> held_;
};

}  // namespace cordon::launcher
