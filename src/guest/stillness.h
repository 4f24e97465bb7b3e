// SPDX-License-Identifier: Apache-2.0
// All of a pid namespace stands still, and goes on as it was. Signals do it, from the one who
// cannot be signalled back: they work in every tier, and whoever stands cannot wake another.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace cordon::guest {

// What /proc/PID/stat says of a process: 'R', 'S', 'T', … Nothing: it says nothing like it.
std::optional<char> state_in(std::string_view stat);
// It does not run, and will not by itself.
constexpr bool stands(char state) noexcept {
  return state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

class Stillness {
 public:
  struct Seen {
    pid_t pid = 0;
    char state = 0;
  };
  // Of this pid namespace, but for its pid 1; those behind come later.
  static Result<std::vector<Seen>> look();

  bool is_on() const noexcept { return is_on_; }

  // Stops all but us, at one stroke: nobody can be born meanwhile.
  void begin();
  // Those that stand now are held; `spared` (0: nobody) is not one of them, and goes on.
  void hold_all_but(pid_t spared);
  // One of them may have been woken, by the death of another for one: it is stopped again.
  void hold();
  // It is no more.
  void forget(pid_t pid) { held_.erase(pid); }
  // All go on but those that stood before; children first, so that no shell sees that they stood.
  void end();

 private:
  bool is_on_ = false;
  std::set<pid_t> before_;  // stood already
  std::set<pid_t> held_;
};

}  // namespace cordon::guest
