// SPDX-License-Identifier: Apache-2.0
// Stands between a sandboxed program and the caller's real terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "terminal/modes.h"
#include "terminal/sequence.h"

namespace cordon::terminal {

// Passes what full-screen programs need, and nothing that outlives them unseen: no title, no
// clipboard, no programmed keys, no device strings, no 8-bit controls. Every sequence is told again
// whole and in its plainest form, so that no terminal reads another one into it; refused ones
// vanish. Bytes that are no UTF-8 become U+FFFD. For text *about* a sandbox use TextFilter.
class EscapeFilter {
 public:
  // Appends to `out` what may reach the terminal. A sequence may be cut anywhere over calls; at
  // most SequenceParser::kMostString bytes of it are held.
  void feed(std::string_view bytes, std::string& out);

  // The bytes that put the terminal back to what it was before the first feed.
  std::string restore_sequence() const { return modes_.restore_sequence(); }

  // Whether the program asked the terminal anything, ever: answers may still be on their way when
  // it ends (see LocalTerminal::leave).
  bool asked() const noexcept { return asked_; }
  // Among it, what LocalTerminal itself asks at the end: one answer does not tell that all are in.
  bool asked_status() const noexcept { return asked_status_; }

  // How many sequences were refused.
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  void tell(const Sequence& sequence, std::string& out);

  SequenceParser parser_;
  Modes modes_;
  bool asked_ = false;
  bool asked_status_ = false;
  std::uint64_t refused_ = 0;
};

}  // namespace cordon::terminal
