// SPDX-License-Identifier: Apache-2.0
// For tests: a second compiler of filter tables, as plain as it can be. Rule after rule, each one
// looks at the call's number and then at its arguments, half by half; nothing is searched, shared,
// merged or left out, and no code is that of the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <vector>

#include "os/seccomp_compile.h"
#include "os/seccomp_model.h"

namespace cordon::os {

class LinearCompiler {
 public:
  static std::vector<sock_filter> compile(const FilterSpec& spec) {
    LinearCompiler compiler;
    compiler.begin(spec);
    for (const FilterRule& rule : spec.rules) compiler.add(rule);
    compiler.put(BPF_RET | BPF_K, to_answer(spec.otherwise));
    return compiler.program_;
  }

 private:
  // A conditional jump with one way open: it is set when the end of the block is known.
  struct Open {
    std::size_t place;
    bool when_holds;
  };

  void put(unsigned code, std::uint32_t k, std::uint8_t jt = 0, std::uint8_t jf = 0) {
    program_.push_back({static_cast<std::uint16_t>(code), jt, jf, k});
  }
  void leave_unless(unsigned condition, std::uint32_t k) {
    open_.push_back({program_.size(), false});
    put(BPF_JMP | BPF_K | condition, k);
  }
  void leave_if(unsigned condition, std::uint32_t k) {
    open_.push_back({program_.size(), true});
    put(BPF_JMP | BPF_K | condition, k);
  }
  // All open ways lead here.
  void close() {
    for (const Open& open : open_) {
      const auto distance = static_cast<std::uint8_t>(program_.size() - open.place - 1);
      (open.when_holds ? program_[open.place].jt : program_[open.place].jf) = distance;
    }
    open_.clear();
  }
  void load(std::size_t offset) {
    put(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }

  void begin(const FilterSpec& spec) {
    load(offsetof(seccomp_data, arch));
    put(BPF_JMP | BPF_K | BPF_JEQ, kNativeArch, 1, 0);
    put(BPF_RET | BPF_K, to_answer(spec.foreign));
#if defined(__x86_64__)
    // -1 is no x32 number: it is how a tracer skips a call.
    load(offsetof(seccomp_data, nr));
    put(BPF_JMP | BPF_K | BPF_JEQ, 0xFFFFFFFF, 2, 0);
    put(BPF_JMP | BPF_K | BPF_JGE, 0x40000000, 0, 1);
    put(BPF_RET | BPF_K, to_answer(spec.x32.value_or(spec.foreign)));
#endif
  }

  void add(const FilterRule& rule) {
    load(offsetof(seccomp_data, nr));
    leave_unless(BPF_JEQ, static_cast<std::uint32_t>(rule.syscall));
    for (const ArgumentTest& test : rule.when) add(test);
    put(BPF_RET | BPF_K, to_answer(rule.action));
    close();
  }

  // Falls through where the test holds, and leaves the rule where it does not.
  void add(const ArgumentTest& test) {
    const std::size_t low = offsetof(seccomp_data, args) + std::size_t{test.index} * 8;
    const std::size_t high = low + 4;
    const auto value_low = static_cast<std::uint32_t>(test.value);
    const auto value_high = static_cast<std::uint32_t>(test.value >> 32U);
    const auto mask_low = static_cast<std::uint32_t>(test.mask);
    const auto mask_high = static_cast<std::uint32_t>(test.mask >> 32U);
    using Op = ArgumentTest::Op;
    switch (test.op) {
      case Op::equal:
        load(low);
        leave_unless(BPF_JEQ, value_low);
        load(high);
        leave_unless(BPF_JEQ, value_high);
        return;
      case Op::not_equal:
        load(low);
        put(BPF_JMP | BPF_K | BPF_JEQ, value_low, 0, 2);
        load(high);
        leave_if(BPF_JEQ, value_high);
        return;
      case Op::masked:
        load(low);
        put(BPF_ALU | BPF_AND | BPF_K, mask_low);
        leave_unless(BPF_JEQ, value_low);
        load(high);
        put(BPF_ALU | BPF_AND | BPF_K, mask_high);
        leave_unless(BPF_JEQ, value_high);
        return;
      case Op::any_bit:
        load(low);
        put(BPF_JMP | BPF_K | BPF_JSET, mask_low, 2, 0);
        load(high);
        leave_unless(BPF_JSET, mask_high);
        return;
      case Op::less:
      case Op::at_most:
        load(high);
        leave_if(BPF_JGT, value_high);
        put(BPF_JMP | BPF_K | BPF_JEQ, value_high, 0, 2);
        load(low);
        leave_if(test.op == Op::less ? BPF_JGE : BPF_JGT, value_low);
        return;
      case Op::greater:
      case Op::at_least:
        load(high);
        put(BPF_JMP | BPF_K | BPF_JGT, value_high, 3, 0);
        leave_unless(BPF_JEQ, value_high);
        load(low);
        leave_unless(test.op == Op::greater ? BPF_JGT : BPF_JGE, value_low);
        return;
    }
  }

  std::vector<sock_filter> program_;
  std::vector<Open> open_;
};

}  // namespace cordon::os
