// SPDX-License-Identifier: Apache-2.0
// What the supervisor of a sandbox's code contexts writes: lines "NUMBER KIND TEXT", each an
// answer, or a part of one, to the request of that number. (pure)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::api::e2b {

class InterpreterLines {
 public:
  enum class Kind : std::uint8_t {
    event,   // for its client, line by line
    done,    // the last: its answer
    failed,  // the last: a status and why
  };
  // Of one line, as far as it has come.
  struct Piece {
    std::uint32_t number = 0;
    Kind kind = Kind::event;
    std::string_view text;       // until the next push
    bool ends_the_line = false;  // the line ends behind it; what ends it is not in `text`
  };

  // Before: next() has given nothing.
  void push(std::string_view bytes) { rest_ = bytes; }
  // Nothing: more bytes are needed. Lines that are none of these are passed over: they are of the
  // sandbox's making, and whoever waits for another is not held up by them.
  std::optional<Piece> next();

 private:
  enum class At : std::uint8_t { head, text, nonsense };
  // Of "4294967295 failed ".
  static constexpr std::size_t kLongestHead = 24;

  bool read_head();

  std::string_view rest_;
  std::string head_;
  At at_ = At::head;
  std::uint32_t number_ = 0;
  Kind kind_ = Kind::event;
};

}  // namespace cordon::api::e2b
