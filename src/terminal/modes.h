// SPDX-License-Identifier: Apache-2.0
// Which states of the terminal a program changed, and the bytes that put them back.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "terminal/sequence.h"

namespace cordon::terminal {

// A mode of `CSI ? number h` that programs may switch. What is not in kPrivateModes is not let
// through: a state that we do not know, we could not put back.
struct PrivateMode {
  int number;
  bool initially_on;
  std::string_view what;
};

inline constexpr auto kPrivateModes = std::to_array<PrivateMode>({
    {2026, false, "synchronised output"},
    {1, false, "application cursor keys"},
    {4, false, "smooth scrolling"},
    {5, false, "reverse video"},
    {6, false, "origin at the margins"},
    {7, true, "wrapping at the right margin"},
    {8, true, "repeating keys"},
    {9, false, "mouse: presses"},
    {12, false, "blinking cursor"},
    {25, true, "visible cursor"},
    {45, false, "reverse wrapping"},
    {66, false, "application keypad"},
    {69, false, "left and right margins"},
    {1000, false, "mouse: buttons"},
    {1002, false, "mouse: drags"},
    {1003, false, "mouse: every move"},
    {1004, false, "focus reports"},
    {1005, false, "mouse: UTF-8 coordinates"},
    {1006, false, "mouse: SGR coordinates"},
    {1015, false, "mouse: urxvt coordinates"},
    {1016, false, "mouse: pixels"},
    {2004, false, "bracketed paste"},
    {2027, false, "grapheme clusters"},
    {2031, false, "reports of the colour scheme"},
    {2048, false, "reports of resizes"},
    {47, false, "alternate screen"},
    {1047, false, "alternate screen, cleared"},
    {1049, false, "alternate screen with saved cursor"},
});

// Follows the sequences that were let through, and only those.
class Modes {
 public:
  void see(const Sequence& sequence);

  // What ends each changed state, and nothing for the others; empty when none is changed. It may be
  // written more than once only with a new Modes between.
  std::string restore_sequence() const;

 private:
  enum State : std::uint8_t {  // other than private modes; the order is that of restoring
    insert,
    keypad,
    modify_keys,
    palette,
    foreground,
    background,
    cursor_colour,
    tabs,
    margins,
    charsets,
    shifted,
    rendition,
    cursor_style,
    kStates,
  };
  // Of the kitty keyboard protocol; a terminal has one for each screen.
  struct Keyboard {
    unsigned pushed = 0;
    bool set = false;
    std::string restore() const;
  };

  void see_escape(const Sequence& sequence);
  void see_csi(const Sequence& sequence);
  void see_plain_csi(const Sequence& sequence);
  void see_private_modes(std::string_view parameters, bool on);
  void see_keyboard(const Sequence& sequence);
  void see_colours(std::string_view text);
  bool on_alternate_screen() const noexcept;

  std::bitset<kPrivateModes.size()> private_;  // changed from the initial value
  std::bitset<kStates> changed_;
  std::array<Keyboard, 2> keyboards_;  // main screen, alternate screen
};

}  // namespace cordon::terminal
