// SPDX-License-Identifier: Apache-2.0
// The caller's own terminal while a sandboxed program has it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "os/terminal.h"
#include "terminal/escape_filter.h"
#include "terminal/rescue.h"

namespace cordon::terminal {

// Raw while entered, as it was before afterwards: on leave, on destruction, and when a signal that
// nobody handles ends us (Rescue). It has no loop: the caller reads and writes fd(), and calls
//   on SIGWINCH: size, and tells the sandbox;
//   on SIGCONT: resume, then size, and tells the sandbox even when nothing changed: it redraws;
//   on SIGHUP, SIGINT, SIGQUIT, SIGTERM, if it handles them: leave, on its way out.
class LocalTerminal {
 public:
  // `invalid` when it is no terminal. The terminal is opened anew where that is allowed, so that
  // what we do to the open file (O_NONBLOCK) is not done to the shell's.
  static Result<LocalTerminal> open(const os::Fd& terminal);
  LocalTerminal(LocalTerminal&&) noexcept = default;
  LocalTerminal& operator=(LocalTerminal&&) = delete;
  ~LocalTerminal();

  // Non-blocking, for reading and writing.
  const os::Fd& fd() const noexcept { return fd_; }
  bool is_raw() const noexcept { return rescue_ != nullptr; }
  Result<os::WindowSize> size() const { return os::window_size(fd_); }

  // Makes it raw: Ctrl-C is a byte, for the sandbox's own terminal to turn into a signal there.
  // `unavailable` in the background: the shell has the terminal; nothing is changed, and we are not
  // stopped. Try again after SIGCONT.
  Status enter();

  // After a stop the shell has set its own attributes. Raw again, when it was and the terminal is
  // ours again; otherwise nothing. What `leave` restores stays what was found at first.
  Status resume();

  // After each feed of the filter, before its output is written: what to undo at the end.
  void follow(const EscapeFilter& filter);

  // Ends the modes that the program left on, throws away typed input and answers to the program's
  // questions, and restores the attributes; nothing of it while in the background. Blocks for at
  // most 0.6 s, and only when a terminal owes an answer or takes no output. Calling it again does
  // nothing.
  void leave() noexcept;

 private:
  LocalTerminal(os::Fd fd, os::TerminalAttributes attributes, bool shared, bool was_nonblocking);
  void await_answers() const noexcept;

  os::Fd fd_;
  os::TerminalAttributes before_;
  bool shared_;  // with the shell: its flags are put back too
  bool was_nonblocking_;
  std::string end_;  // bytes that undo modes
  bool asked_ = false;
  bool asked_status_ = false;
  std::unique_ptr<Rescue> rescue_;  // while raw
};

}  // namespace cordon::terminal
