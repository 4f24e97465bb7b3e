// SPDX-License-Identifier: Apache-2.0
#include "terminal/modes.h"

#include <algorithm>

#include <fmt/format.h>

#include "terminal/parameters.h"

namespace cordon::terminal {
namespace {

constexpr std::string_view kModeEnds[] = {
    "\x1b[4l",                   // insert
    "\x1b>",                     // keypad
    "\x1b[>4m",                  // modify_keys
    "\x1b]104\x1b\\",            // palette
    "\x1b]110\x1b\\",            // foreground
    "\x1b]111\x1b\\",            // background
    "\x1b]112\x1b\\",            // cursor_colour
    "\x1b[?5W",                  // tabs
    "\0337\033[r\0338",          // margins: setting them moves the cursor
    "\x1b(B\x1b)B\x1b*B\x1b+B",  // charsets
    "\x0f",                      // shifted
    "\x1b[m",                    // rendition
    "\x1b[0 q",                  // cursor_style
};

constexpr bool is_alternate_screen(int number) noexcept {
  return number == 47 || number == 1047 || number == 1049;
}

// The terminal keeps a bounded stack; what a program pushes beyond it pushes out the lowest.
constexpr unsigned kMostKeyboards = 64;

}  // namespace

std::string Modes::Keyboard::restore() const {
  std::string bytes;
  if (pushed > 0) bytes = fmt::format("\x1b[<{}u", pushed);
  if (set) bytes += "\x1b[=0u";
  return bytes;
}

bool Modes::on_alternate_screen() const noexcept {
  for (std::size_t i = 0; i < kPrivateModes.size(); ++i) {
    if (private_[i] && is_alternate_screen(kPrivateModes[i].number)) return true;
  }
  return false;
}

void Modes::see(const Sequence& sequence) {
  switch (sequence.kind) {
    case Sequence::Kind::control:
      if (sequence.final == '\x0e') changed_.set(shifted);
      if (sequence.final == '\x0f') changed_.reset(shifted);
      return;
    case Sequence::Kind::escape:
      return see_escape(sequence);
    case Sequence::Kind::csi:
      return see_csi(sequence);
    case Sequence::Kind::osc:
      return see_colours(sequence.parameters);
    case Sequence::Kind::character:
    case Sequence::Kind::stray:
    case Sequence::Kind::string:
      return;
  }
}

void Modes::see_escape(const Sequence& sequence) {
  if (!sequence.intermediates.empty()) {
    constexpr std::string_view kDesignators = "()*+";
    if (kDesignators.find(sequence.intermediates[0]) != std::string_view::npos &&
        (sequence.final != 'B' || sequence.intermediates.size() > 1))
      changed_.set(charsets);
    return;
  }
  switch (sequence.final) {
    case 'c':  // a full reset
      *this = Modes{};
      return;
    case '=':
      changed_.set(keypad);
      return;
    case '>':
      changed_.reset(keypad);
      return;
    case 'H':
      changed_.set(tabs);
      return;
    case 'n':
    case 'o':
    case '|':
    case '}':
    case '~':
      changed_.set(shifted);
      return;
    default:
      return;
  }
}

void Modes::see_csi(const Sequence& sequence) {
  if (sequence.intermediates == " " && sequence.final == 'q') {
    changed_.set(cursor_style, number_or(sequence.parameters, 0) != 0);
  } else if (!sequence.intermediates.empty()) {
    return;
  } else if (sequence.final == 'u' && sequence.prefix != 0) {
    see_keyboard(sequence);
  } else if (sequence.prefix == '?' && (sequence.final == 'h' || sequence.final == 'l')) {
    see_private_modes(sequence.parameters, sequence.final == 'h');
  } else if (sequence.prefix == '?' && sequence.final == 'W') {
    changed_.reset(tabs);
  } else if (sequence.prefix == '>' && sequence.final == 'm') {
    std::string_view rest = sequence.parameters;
    take_parameter(rest);
    changed_.set(modify_keys, number_or(rest, 0) != 0);
  } else if (sequence.prefix == '>' && sequence.final == 'n') {
    changed_.set(modify_keys);
  } else if (sequence.prefix == 0) {
    see_plain_csi(sequence);
  }
}

void Modes::see_plain_csi(const Sequence& sequence) {
  const std::string_view parameters = sequence.parameters;
  switch (sequence.final) {
    case 'm':
      changed_.set(rendition, !parameters.empty() && parameters != "0");
      return;
    case 'r':
      changed_.set(margins, !parameters.empty());
      return;
    case 'g':
      changed_.set(tabs);
      return;
    case 'h':
      changed_.set(insert);
      return;
    case 'l':
      changed_.reset(insert);
      return;
    default:
      return;
  }
}

void Modes::see_private_modes(std::string_view parameters, bool on) {
  while (!parameters.empty()) {
    const int number = number_or(take_parameter(parameters), 0);
    const auto* mode = std::ranges::find(kPrivateModes, number, &PrivateMode::number);
    if (mode == kPrivateModes.end()) continue;
    private_.set(static_cast<std::size_t>(mode - kPrivateModes.begin()), on != mode->initially_on);
    if (number == 66) changed_.reset(keypad);
  }
}

void Modes::see_keyboard(const Sequence& sequence) {
  Keyboard& keyboard = keyboards_[on_alternate_screen() ? 1 : 0];
  std::string_view rest = sequence.parameters;
  if (sequence.prefix == '>') {
    keyboard.pushed = std::min(keyboard.pushed + 1, kMostKeyboards);
  } else if (sequence.prefix == '<') {
    const auto popped = static_cast<unsigned>(std::max(number_or(rest, 1), 1));
    keyboard.pushed -= std::min(popped, keyboard.pushed);
  } else if (sequence.prefix == '=' && keyboard.pushed == 0) {
    keyboard.set = number_or(take_parameter(rest), 0) != 0;
  }
}

void Modes::see_colours(std::string_view text) {
  const int number = number_or(take_parameter(text), -1);
  switch (number) {
    case 4:
      while (!text.empty()) {
        take_parameter(text);  // which colour
        if (take_parameter(text) != "?") changed_.set(palette);
      }
      return;
    case 10:
    case 11:
    case 12:
      if (text != "?") changed_.set(foreground + static_cast<std::size_t>(number - 10));
      return;
    case 104:
      if (text.empty()) changed_.reset(palette);
      return;
    case 110:
    case 111:
    case 112:
      changed_.reset(foreground + static_cast<std::size_t>(number - 110));
      return;
    default:
      return;
  }
}

std::string Modes::restore_sequence() const {
  std::string bytes;
  std::string leave_screen;
  for (std::size_t i = 0; i < kPrivateModes.size(); ++i) {
    if (!private_[i]) continue;
    const PrivateMode& mode = kPrivateModes[i];
    (is_alternate_screen(mode.number) ? leave_screen : bytes) +=
        fmt::format("\x1b[?{}{}", mode.number, mode.initially_on ? 'h' : 'l');
  }
  if (!leave_screen.empty()) bytes += keyboards_[1].restore() + leave_screen;
  bytes += keyboards_[0].restore();
  static_assert(std::size(kModeEnds) == kStates);
  for (std::size_t i = 0; i < kStates; ++i) {
    if (changed_[i]) bytes += kModeEnds[i];
  }
  return bytes;
}

}  // namespace cordon::terminal
