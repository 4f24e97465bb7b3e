// SPDX-License-Identifier: Apache-2.0
// Puts the caller's terminal back when we die by a signal that nobody handles.
#pragma once

#include <cstddef>
#include <string_view>

#include "os/fd.h"
#include "os/terminal.h"

namespace cordon::terminal {

// While it lives, signals that would end the process first restore the terminal and then end it as
// they would have. Signals that the program handles, blocks or ignores are left to it; so is
// SIGKILL. One at a time: a handler has no other way to its data than a global.
class Rescue {
 public:
  static constexpr std::size_t kMostBytes = 1024;

  // `terminal` must outlive this.
  Rescue(const os::Fd& terminal, const os::TerminalAttributes& attributes);
  Rescue(const Rescue&) = delete;
  Rescue& operator=(const Rescue&) = delete;
  ~Rescue();

  // Also writes `bytes` then; from the thread that made this. Beyond kMostBytes nothing is written.
  void update(std::string_view bytes) noexcept;

 private:
  os::TerminalAttributes attributes_;
  int terminal_;
};

}  // namespace cordon::terminal
