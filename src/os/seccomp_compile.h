// SPDX-License-Identifier: Apache-2.0
// From a table of system calls to a seccomp program.
#pragma once

#include <cstdint>
#include <linux/filter.h>
#include <optional>
#include <vector>

#include "base/result.h"

namespace cordon::os {

struct FilterAction {
  enum class Kind : std::uint8_t { allow, fail, notify, log, kill_process };
  Kind kind = Kind::kill_process;
  int error_number = 0;  // of `fail`: what the call returns

  static constexpr FilterAction allow() { return {.kind = Kind::allow}; }
  static constexpr FilterAction fail(int number) {
    return {.kind = Kind::fail, .error_number = number};
  }
  static constexpr FilterAction notify() { return {.kind = Kind::notify}; }
  static constexpr FilterAction log() { return {.kind = Kind::log}; }  // allowed, and logged
  static constexpr FilterAction kill_process() { return {.kind = Kind::kill_process}; }

  friend bool operator==(const FilterAction&, const FilterAction&) = default;
};

// A condition on one argument, as an unsigned 64-bit number. Where the kernel looks at the low half
// only (ioctl commands, socket domains, int flags) the upper half is the attacker's to choose:
// compare there with `masked` and a mask of 32 bits, or the rule can be walked around.
struct ArgumentTest {
  enum class Op : std::uint8_t {
    equal,
    not_equal,
    less,
    at_most,
    greater,
    at_least,
    masked,   // (argument & mask) == value
    any_bit,  // (argument & mask) != 0
  };
  unsigned index = 0;  // 0 to 5
  Op op = Op::equal;
  std::uint64_t value = 0;
  std::uint64_t mask = 0;

  friend bool operator==(const ArgumentTest&, const ArgumentTest&) = default;
};

struct FilterRule {
  int syscall = 0;  // by number: a name may be younger than our headers
  FilterAction action;
  std::vector<ArgumentTest> when;  // all must hold; at most one for each argument

  friend bool operator==(const FilterRule&, const FilterRule&) = default;
};

struct FilterSpec {
  FilterAction otherwise;
  // Calls of another architecture than the one we are built for.
  FilterAction foreign = FilterAction::kill_process();
  // On x86-64, numbers from 0x40000000: a second table of the same calls. Absent: as `foreign`.
  std::optional<FilterAction> x32 = {};
  // Of the rules for one call the first that matches decides; where none does, `otherwise`.
  std::vector<FilterRule> rules;
};

// The program, with a binary search over the call numbers. Rules that cannot decide anything are
// refused (invalid), because their author meant something: the default's action with no rule behind
// it, or a rule behind one that always matches.
Result<std::vector<sock_filter>> compile_filter(const FilterSpec& spec);

// What the kernel is told: SECCOMP_RET_... with its data.
std::uint32_t to_answer(const FilterAction& action);

}  // namespace cordon::os
