// SPDX-License-Identifier: Apache-2.0
// What a sandbox said, shown to a person: nothing in it moves a cursor or hides a character.
#pragma once

#include <string>
#include <string_view>

#include "base/utf8.h"

namespace cordon::terminal {

// Passes printable UTF-8, newline, tab and colours (SGR, but no concealed text). All else becomes
// visible: a control or a byte that is no UTF-8 as \xNN, a character that deceives the eye as
// <U+202E>. CR before LF is dropped, as a terminal would not show it. Look-alike letters pass.
class TextFilter {
 public:
  // Appends to `out` what may be shown of `bytes`. A sequence may be cut anywhere over calls.
  void feed(std::string_view bytes, std::string& out);
  // At the end of the stream: shows what was still held, and ends colours that were left on.
  void finish(std::string& out);

 private:
  void push(unsigned char byte, std::string& out);
  bool push_sgr(unsigned char byte, std::string& out);
  bool push_utf8(unsigned char byte, std::string& out);
  void show_held(std::string& out);

  Utf8 utf8_;
  std::string held_;  // "\r", or the start of what may become an SGR sequence
  bool coloured_ = false;
};

// A name in a listing, or any text that must stay on its line: as TextFilter, but newline, tab and
// colours are made visible too. For the eye: a backslash is not doubled, so it cannot be undone.
std::string printable(std::string_view text);

}  // namespace cordon::terminal
