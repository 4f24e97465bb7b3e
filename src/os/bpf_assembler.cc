// SPDX-License-Identifier: Apache-2.0
#include "os/bpf_assembler.h"

#include <algorithm>

namespace cordon::os {
namespace {

// One less than a conditional jump reaches: bringing its second target near may add an instruction.
constexpr std::size_t kReach = 254;

}  // namespace

BpfAssembler::Target BpfAssembler::push(std::uint16_t code, std::uint8_t yes, std::uint8_t no,
                                        std::uint32_t value) {
  reversed_.push_back({.code = code, .jt = yes, .jf = no, .k = value});
  return {.place = reversed_.size() - 1};
}

BpfAssembler::Target BpfAssembler::within_reach(const Target& target) {
  if (!target.is_answer) {
    if (distance(target) <= kReach) return target;
    return push(BPF_JMP | BPF_JA, 0, 0, static_cast<std::uint32_t>(distance(target)));
  }
  const std::size_t near = std::min(kReach, reversed_.size());
  for (std::size_t back = 1; back <= near; ++back) {
    const sock_filter& written = reversed_[reversed_.size() - back];
    if (written.code == (BPF_RET | BPF_K) && written.k == target.answer) {
      return {.place = reversed_.size() - back};
    }
  }
  return push(BPF_RET | BPF_K, 0, 0, target.answer);
}

BpfAssembler::Target BpfAssembler::jump_if(std::uint16_t condition, std::uint32_t value,
                                           const Target& yes, const Target& no) {
  if (yes == no) return yes;
  const Target near_yes = within_reach(yes);
  const Target near_no = within_reach(no);
  return push(static_cast<std::uint16_t>(BPF_JMP | BPF_K | condition),
              static_cast<std::uint8_t>(distance(near_yes)),
              static_cast<std::uint8_t>(distance(near_no)), value);
}

// The instruction that is written next goes on at `target`.
void BpfAssembler::make_next(const Target& target) {
  if (target.is_answer) {
    push(BPF_RET | BPF_K, 0, 0, target.answer);
  } else if (distance(target) > 0) {
    push(BPF_JMP | BPF_JA, 0, 0, static_cast<std::uint32_t>(distance(target)));
  }
}

BpfAssembler::Target BpfAssembler::load(std::uint32_t offset, const Target& next) {
  make_next(next);
  return push(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

BpfAssembler::Target BpfAssembler::mask(std::uint32_t bits, const Target& next) {
  make_next(next);
  return push(BPF_ALU | BPF_AND | BPF_K, 0, 0, bits);
}

std::vector<sock_filter> BpfAssembler::finish(const Target& entry) && {
  make_next(entry);
  std::ranges::reverse(reversed_);
  return std::move(reversed_);
}

}  // namespace cordon::os
