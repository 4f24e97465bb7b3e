// SPDX-License-Identifier: Apache-2.0
// Finds any of a set of byte strings in a stream, one table look-up for each byte (Aho and
// Corasick).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/wiped.h"

namespace cordon::egress {

// Which bytes count as one: in patterns and in the stream.
enum class Fold : std::uint8_t {
  none,
  letters,  // capitals as small letters: hex digits
  base64,   // '+' as '-', '/' as '_': both alphabets
};

// A set of pairs of bytes that follow one another. Wiped: it tells how secrets begin.
class BytePairs {
 public:
  static constexpr std::size_t kMemory = 65'536 / 8;
  BytePairs() : bits_(kMemory / sizeof(std::uint64_t), 0) {}
  void add(std::uint8_t first, std::uint8_t second) noexcept {
    bits_[index(first, second) / 64] |= std::uint64_t{1} << (index(first, second) % 64);
  }
  bool has(std::uint8_t first, std::uint8_t second) const noexcept {
    return ((bits_[index(first, second) / 64] >> (index(first, second) % 64)) & 1U) != 0;
  }
  void add_all(const BytePairs& other) noexcept {
    for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] |= other.bits_[i];
  }

 private:
  static constexpr unsigned index(std::uint8_t first, std::uint8_t second) noexcept {
    return unsigned{first} * 256 + second;
  }
  WipedVector<std::uint64_t> bits_;
};

struct Pattern {
  WipedBytes bytes;     // not empty
  std::uint8_t id = 0;  // what a match tells
};

// What it is made of may be secret: its tables are wiped when it goes.
class Automaton {
 public:
  using State = std::uint16_t;
  static constexpr State kStart = 0;
  static constexpr std::uint8_t kNone = 0xFF;

  Automaton() : Automaton{{}, Fold::none} {}  // finds nothing
  // Before: fewer than 65,535 bytes in all patterns, ids below kNone. Of two patterns that end at
  // the same byte the longer one is told.
  Automaton(std::span<const Pattern> patterns, Fold fold);

  State step(State state, std::uint8_t byte) const noexcept {
    return next_[static_cast<std::size_t>(state) * classes_ + class_of_[byte]];
  }
  // Of the pattern that ends here; kNone: none does.
  std::uint8_t match(State state) const noexcept { return match_[state]; }
  // Adds the pairs with which patterns begin; a first byte that `between` may follow also with each
  // of those.
  void add_beginnings(BytePairs& pairs, std::string_view between = {}) const;

  std::size_t memory() const noexcept;  // bytes of its tables

 private:
  void classify(std::span<const Pattern> patterns, Fold fold);
  void plant(std::span<const Pattern> patterns);
  void connect();

  WipedVector<std::uint16_t> class_of_;  // 256; class 0: bytes that no pattern has
  std::size_t classes_ = 1;
  WipedVector<State> next_;
  WipedVector<std::uint8_t> match_;
};

}  // namespace cordon::egress
