// SPDX-License-Identifier: Apache-2.0
// What a program says to its terminal, cut into sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/utf8.h"

namespace cordon::terminal {

struct Sequence {
  enum class Kind : std::uint8_t {
    character,  // `bytes`
    control,    // `final`: a C0 control or DEL
    stray,      // `bytes` that are no UTF-8
    escape,     // ESC, `intermediates`, `final`
    csi,        // ESC [, `prefix`, `parameters`, `intermediates`, `final`
    osc,        // ESC ], `parameters`, BEL or ST
    string,     // DCS, SOS, PM, APC and tmux's title; `final` tells which
  };
  Kind kind = Kind::character;
  char32_t code = 0;
  std::string bytes;
  std::string parameters;
  std::string intermediates;
  char prefix = 0;  // one of < = > ?, or 0
  char final = 0;
  bool bell = false;       // an OSC that ended with BEL
  bool malformed = false;  // too long, or with bytes that belong nowhere
};

// Cuts a stream as a terminal does. Memory is bounded whatever comes. A sequence that another one
// interrupts, or CAN or SUB, is never told.
class SequenceParser {
 public:
  static constexpr std::size_t kMostParameters = 128;
  static constexpr std::size_t kMostString = 4096;

  struct Step {
    const Sequence* sequence = nullptr;  // complete; valid until the next push
    bool again = false;                  // push the same byte once more
  };
  Step push(unsigned char byte);

  // Nothing is held: a byte of plain text may skip the parser.
  bool is_idle() const noexcept { return state_ == State::ground && !utf8_.holds_bytes(); }

 private:
  enum class State : std::uint8_t { ground, escape, csi, string, string_escape };

  Step push_ground(unsigned char byte);
  Step push_escape(unsigned char byte);
  Step push_csi(unsigned char byte);
  Step push_string(unsigned char byte);
  void begin(State state, Sequence::Kind kind) noexcept;
  Step finish(unsigned char final) noexcept;
  Step control(unsigned char byte);
  bool is_interrupted(unsigned char byte) noexcept;

  State state_ = State::ground;
  Utf8 utf8_;
  Sequence single_;  // of one byte or character, also in the middle of the other
  Sequence long_;
};

}  // namespace cordon::terminal
