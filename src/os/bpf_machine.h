// SPDX-License-Identifier: Apache-2.0
// The machine that the kernel runs filters on, in so far as ours use it: what a program says of a
// call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <span>
#include <vector>

namespace cordon::os {

#if defined(__x86_64__)
inline constexpr std::uint32_t kNativeArch = AUDIT_ARCH_X86_64;
inline constexpr std::uint32_t kOtherArch = AUDIT_ARCH_I386;
#else
inline constexpr std::uint32_t kNativeArch = AUDIT_ARCH_AARCH64;
inline constexpr std::uint32_t kOtherArch = AUDIT_ARCH_ARM;
#endif
inline constexpr std::uint32_t kNoAnswer = 0xDEADBEEF;

using CallArguments = std::array<std::uint64_t, 6>;

inline seccomp_data make_call_data(int number, const CallArguments& arguments = {},
                                   std::uint32_t arch = kNativeArch) {
  seccomp_data data{.nr = number, .arch = arch, .instruction_pointer = 0, .args = {}};
  std::ranges::copy(arguments, std::begin(data.args));
  return data;
}

// Which instructions ran, and which ways their conditional jumps went, over many calls.
struct BpfCoverage {
  explicit BpfCoverage(std::size_t size) : ran(size), jumped(size), passed(size) {}
  std::vector<bool> ran, jumped, passed;
};

struct BpfOutcome {
  std::uint32_t answer = kNoAnswer;
  std::size_t steps = 0;
};

inline bool bpf_jump_holds(const sock_filter& op, std::uint32_t a) {
  switch (BPF_OP(op.code)) {
    case BPF_JEQ:
      return a == op.k;
    case BPF_JGT:
      return a > op.k;
    case BPF_JGE:
      return a >= op.k;
    default:
      return (a & op.k) != 0;  // BPF_JSET
  }
}

// A classic BPF machine with the instructions that our compiler uses; another one is no answer.
inline BpfOutcome run_bpf(std::span<const sock_filter> program, const seccomp_data& data,
                          BpfCoverage* coverage = nullptr) {
  std::uint32_t a = 0;
  std::size_t steps = 0;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    ++steps;
    if (coverage != nullptr) coverage->ran[pc] = true;
    const sock_filter& op = program[pc];
    switch (op.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (op.k + sizeof a > sizeof data) return {};
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + op.k, sizeof a);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= op.k;
        break;
      case BPF_JMP | BPF_JA:
        pc += op.k;
        break;
      case BPF_JMP | BPF_K | BPF_JEQ:
      case BPF_JMP | BPF_K | BPF_JGT:
      case BPF_JMP | BPF_K | BPF_JGE:
      case BPF_JMP | BPF_K | BPF_JSET: {
        const bool holds = bpf_jump_holds(op, a);
        if (coverage != nullptr) (holds ? coverage->jumped : coverage->passed)[pc] = true;
        pc += holds ? op.jt : op.jf;
        break;
      }
      case BPF_RET | BPF_K:
        return {op.k, steps};
      default:
        return {};
    }
  }
  return {};
}

}  // namespace cordon::os
