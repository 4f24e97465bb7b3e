// SPDX-License-Identifier: Apache-2.0
// What random system calls are made of: numbers, and arguments that a kernel finds interesting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chaos {

inline constexpr long kLastNumber = 600;  // beyond what any kernel has today

// xorshift64*: the same on every machine, and without state in libc that a call could spoil.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_{seed * 2 + 1} {}
  std::uint64_t next() {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return state_ * 0x2545F4914F6CDD1DULL;
  }
  std::uint64_t below(std::uint64_t bound) { return (next() >> 11U) % bound; }
  void mix(std::uint64_t other) { state_ ^= other * 0x9E3779B97F4A7C15ULL | 1U; }

 private:
  std::uint64_t state_;
};

struct Call {
  long number = 0;
  std::array<unsigned long, 6> words{};
};

// The things of one batch: open descriptors of many kinds, memory that is valid, and paths.
// It owns none of them: whoever draws lives for one batch only.
class Things {
 public:
  Things(Random& random, std::span<char* const> outside, int generator);

  // A call that does not name the generator itself as its victim.
  Call draw();

 private:
  void open_descriptors();
  void fill_memory();
  unsigned long number_like();
  unsigned long word();
  [[nodiscard]] bool ends_the_generator(const Call& call) const;

  Random& random_;
  int generator_;
  std::vector<int> fds_;
  std::vector<const char*> paths_;
  std::span<std::uint64_t> memory_;
};

}  // namespace chaos
