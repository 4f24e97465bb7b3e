// SPDX-License-Identifier: Apache-2.0
// Classic BPF, written from its last instruction to its first.
//
// Jumps go forward only, so whatever an instruction jumps to has been written when it is, and every
// distance is known at once. Conditional jumps reach 255 instructions; beyond that a jump without
// condition, or a copy of the return, is put in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <vector>

namespace cordon::os {

class BpfAssembler {
 public:
  // Where a jump goes: an answer, which is written only when something jumps to it (so that no
  // instruction is without use), or what the functions below gave.
  struct Target {
    bool is_answer = false;
    std::uint32_t answer = 0;
    std::size_t place = 0;  // counted from the end of the program
    friend bool operator==(const Target&, const Target&) = default;
  };
  static Target answer(std::uint32_t value) { return {.is_answer = true, .answer = value}; }

  // `condition`: BPF_JEQ, BPF_JGT, BPF_JGE or BPF_JSET, of the accumulator with `value`.
  Target jump_if(std::uint16_t condition, std::uint32_t value, const Target& yes, const Target& no);
  // Loads the word at `offset` of seccomp_data, or masks the accumulator, and goes on at `next`.
  Target load(std::uint32_t offset, const Target& next);
  Target mask(std::uint32_t bits, const Target& next);

  // The program that begins at `entry`.
  std::vector<sock_filter> finish(const Target& entry) &&;

 private:
  Target push(std::uint16_t code, std::uint8_t yes, std::uint8_t no, std::uint32_t value);
  std::size_t distance(const Target& target) const { return reversed_.size() - target.place - 1; }
  Target within_reach(const Target& target);
  void make_next(const Target& target);

  std::vector<sock_filter> reversed_;
};

}  // namespace cordon::os
