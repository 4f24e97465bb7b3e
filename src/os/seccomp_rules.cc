// SPDX-License-Identifier: Apache-2.0
// Arguments have 64 bits and the machine's words 32: each test is one of the low half, one of the
// high half, or both.
#include "os/seccomp_rules.h"

#include <algorithm>
#include <cstddef>
#include <linux/seccomp.h>
#include <optional>

namespace cordon::os {
namespace {

using Target = BpfAssembler::Target;
using Op = ArgumentTest::Op;
constexpr std::uint32_t kAllBits = 0xFFFFFFFF;

// Half of an argument: its place in seccomp_data, and the halves of the test's numbers.
struct Half {
  std::uint32_t offset = 0;
  std::uint32_t mask = 0;
  std::uint32_t value = 0;
};

// What the accumulator holds: a word, after a mask.
struct Held {
  std::uint32_t offset = 0;
  std::uint32_t mask = 0;
  friend bool operator==(const Held&, const Held&) = default;
};

Half low(const ArgumentTest& test) {
  const auto offset = static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                                 std::size_t{test.index} * sizeof(std::uint64_t));
  return {offset, static_cast<std::uint32_t>(test.mask), static_cast<std::uint32_t>(test.value)};
}

Half high(const ArgumentTest& test) {
  // Both of our architectures are little-endian.
  return {low(test).offset + 4, static_cast<std::uint32_t>(test.mask >> 32U),
          static_cast<std::uint32_t>(test.value >> 32U)};
}

ArgumentTest with_mask(ArgumentTest test) {
  if (test.op == Op::equal || test.op == Op::not_equal) test.mask = ~std::uint64_t{0};
  return test;
}

// What the accumulator holds where a rule's tests were found not to hold: empty where it differs
// from case to case or is hard to say.
std::optional<Held> held_after_failure(const FilterRule& rule) {
  std::vector<Held> all;
  for (const ArgumentTest& plain : rule.when) {
    const ArgumentTest test = with_mask(plain);
    if (test.op != Op::equal && test.op != Op::masked) return std::nullopt;
    for (const Half& half : {low(test), high(test)}) {
      if (half.mask != 0) all.push_back({half.offset, half.mask});
    }
  }
  if (all.empty() || !std::ranges::all_of(all, [&](const Held& h) { return h == all[0]; })) {
    return std::nullopt;
  }
  return all[0];
}

class TestWriter {
 public:
  TestWriter(BpfAssembler& assembler, const std::optional<Held>& held)
      : assembler_{assembler}, held_{held} {}

  // `first`: of all tests of its rule, so that the accumulator holds what the rule before left.
  Target write(const ArgumentTest& plain, const Target& yes, const Target& no, bool first) {
    const ArgumentTest test = with_mask(plain);
    switch (test.op) {
      case Op::equal:
      case Op::masked:
        return both(test, yes, no, first);
      case Op::not_equal:
        return both(test, no, yes, first);
      case Op::any_bit:
        return any(test, yes, no);
      case Op::less:
        return ordered(test, BPF_JGE, no, yes);
      case Op::at_least:
        return ordered(test, BPF_JGE, yes, no);
      case Op::at_most:
        return ordered(test, BPF_JGT, no, yes);
      case Op::greater:
        return ordered(test, BPF_JGT, yes, no);
    }
    return no;
  }

 private:
  // The low half first: that is where the values that programs pass differ.
  Target both(const ArgumentTest& test, const Target& yes, const Target& no, bool first) {
    const bool has_low = low(test).mask != 0;
    const Target after_low =
        high(test).mask == 0 ? yes : equal(high(test), yes, no, !has_low && first);
    return has_low ? equal(low(test), after_low, no, first) : after_low;
  }

  Target equal(const Half& half, const Target& yes, const Target& no, bool first) {
    const Target jump = assembler_.jump_if(BPF_JEQ, half.value, yes, no);
    if (first && held_ == Held{half.offset, half.mask}) return jump;
    const Target masked = half.mask == kAllBits ? jump : assembler_.mask(half.mask, jump);
    return assembler_.load(half.offset, masked);
  }

  Target any(const ArgumentTest& test, const Target& yes, const Target& no) {
    const Half upper = high(test);
    const Half lower = low(test);
    Target next = no;
    if (upper.mask != 0) {
      next = assembler_.load(upper.offset, assembler_.jump_if(BPF_JSET, upper.mask, yes, no));
    }
    if (lower.mask == 0) return next;
    return assembler_.load(lower.offset, assembler_.jump_if(BPF_JSET, lower.mask, yes, next));
  }

  // `condition` is JGE or JGT, of the whole argument with the whole value.
  Target ordered(const ArgumentTest& test, std::uint16_t condition, const Target& yes,
                 const Target& no) {
    const Half upper = high(test);
    const Half lower = low(test);
    const Target by_low =
        assembler_.load(lower.offset, assembler_.jump_if(condition, lower.value, yes, no));
    const Target not_above = assembler_.jump_if(BPF_JEQ, upper.value, by_low, no);
    return assembler_.load(upper.offset, assembler_.jump_if(BPF_JGT, upper.value, yes, not_above));
  }

  BpfAssembler& assembler_;
  std::optional<Held> held_;
};

}  // namespace

Target RuleWriter::write(const std::vector<FilterRule>& rules) {
  const auto same = [&](const auto& entry) { return entry.first == rules; };
  if (const auto found = std::ranges::find_if(written_, same); found != written_.end()) {
    return found->second;
  }
  Target next = BpfAssembler::answer(to_answer(otherwise_));
  for (std::size_t i = rules.size(); i-- > 0;) {
    const FilterRule& rule = rules[i];
    const auto held = i == 0 ? std::nullopt : held_after_failure(rules[i - 1]);
    TestWriter writer{assembler_, held};
    Target entry = BpfAssembler::answer(to_answer(rule.action));
    for (std::size_t t = rule.when.size(); t-- > 0;) {
      entry = writer.write(rule.when[t], entry, next, t == 0);
    }
    next = entry;
  }
  written_.emplace_back(rules, next);
  return next;
}

}  // namespace cordon::os
