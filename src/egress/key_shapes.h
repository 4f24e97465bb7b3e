// SPDX-License-Identifier: Apache-2.0
// What well-known keys look like, as a table, and a reader that sees them go by.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "egress/automaton.h"

namespace cordon::egress {

// Fixed text, then so many characters of a kind.
struct KeyPart {
  std::string_view text;
  enum class Kind : std::uint8_t {
    any,
    upper,
    alnum,
    word
  } kind = Kind::any;  // word: also - and _
  std::uint8_t least = 0;
};

struct KeyShape {
  std::string_view name;
  // One to three; texts after the first begin with a character that is not of the kind before them.
  std::array<KeyPart, 3> parts;
  bool begins_a_word = true;  // "task-..." is no "sk-..."
};

std::span<const KeyShape> key_shapes();

// A place in one stream.
class KeyWatch {
 public:
  static constexpr std::size_t kMostShapes = 32;
  static constexpr std::uint8_t kNone = Automaton::kNone;

  // The index of the shape that is complete with this byte; kNone: none is.
  std::uint8_t step(std::uint8_t byte) noexcept;
  // A byte that was passed over because it can begin nothing, before the next step.
  void passed(std::uint8_t byte) noexcept { recent_[at_++ % recent_.size()] = byte; }

  bool is_idle() const noexcept { return state_ == Automaton::kStart && active_ == 0; }
  // The two bytes with which first texts begin.
  static void add_beginnings(BytePairs& pairs);
  // True when the same bytes from here on mean the same to both.
  bool is_level_with(const KeyWatch& other) const noexcept {
    return is_idle() && other.is_idle() && last() == other.last();
  }

 private:
  std::uint8_t last() const noexcept { return at_ == 0 ? 0 : recent_[(at_ - 1) % recent_.size()]; }

  struct Progress {
    std::uint8_t part = 0;
    std::uint8_t text = 0;   // characters of the part's text
    std::uint8_t count = 0;  // characters behind it
  };
  enum class Step : std::uint8_t { goes_on, done, failed };
  static Step advance(Progress& progress, const KeyShape& shape, std::uint8_t byte) noexcept;
  void begin(std::uint8_t shape) noexcept;

  Automaton::State state_ = Automaton::kStart;
  std::uint32_t active_ = 0;  // bits: shapes whose first text was seen
  std::array<Progress, kMostShapes> progress_{};
  std::array<std::uint8_t, 32> recent_{};  // longer than any first text that begins a word
  std::uint32_t at_ = 0;
};

}  // namespace cordon::egress
