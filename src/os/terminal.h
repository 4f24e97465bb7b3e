// SPDX-License-Identifier: Apache-2.0
// Terminals and pseudo terminals: attributes, size, and who is in the foreground.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>
#include <termios.h>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

bool is_terminal(const Fd& fd) noexcept;

// What `stty` shows and sets.
struct TerminalAttributes {
  termios kernel{};
  friend bool operator==(const TerminalAttributes& a, const TerminalAttributes& b) noexcept;
};
Result<TerminalAttributes> terminal_attributes(const Fd& terminal);
// Every byte as typed, at once, none of them a signal; output as written.
TerminalAttributes raw(TerminalAttributes attributes) noexcept;

// At once, waiting for no output to leave: a terminal that was stopped (Ctrl-S) must not hold us.
// SIGTTOU is held off meanwhile: a background process changes the terminal instead of being
// stopped, so ask in_foreground first.
Status set_terminal_attributes(const Fd& terminal, const TerminalAttributes& attributes);

struct WindowSize {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
  std::uint16_t width = 0;  // in pixels; 0: not known
  std::uint16_t height = 0;
  friend bool operator==(const WindowSize&, const WindowSize&) = default;
};
Result<WindowSize> window_size(const Fd& terminal);
// On either end of a pseudo terminal; a change sends SIGWINCH to its foreground group.
Status set_window_size(const Fd& terminal, const WindowSize& size);

// Empty when this is not our controlling terminal.
Result<std::optional<pid_t>> foreground_group(const Fd& terminal);
Status set_foreground_group(const Fd& terminal, pid_t group);
// Whether we may change this terminal: we are its foreground group, or it does not control us.
bool in_foreground(const Fd& terminal) noexcept;

// Throws away what was typed but not read.
Status flush_input(const Fd& terminal);

struct Pty {
  Fd master;
  Fd slave;
};
// From the devpts behind /dev/ptmx. The slave is opened from the master, by no path: another devpts
// mounted meanwhile cannot put its own terminal in between. It controls nobody.
Result<Pty> open_pty(const WindowSize& size);
// Before: the caller leads a session that has no terminal.
Status make_controlling_terminal(const Fd& terminal);

}  // namespace cordon::os
