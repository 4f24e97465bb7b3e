// SPDX-License-Identifier: Apache-2.0
// From a table of system calls to a seccomp program.
#pragma once

#include <cstdint>
#include <linux/filter.h>
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
  enum class Op : std::uint8_t { equal, not_equal, less, at_most, greater, at_least, masked };
  unsigned index = 0;  // 0 to 5
  Op op = Op::equal;
  std::uint64_t value = 0;
  std::uint64_t mask = 0;  // `masked`: (argument & mask) == value
};

struct FilterRule {
  int syscall = 0;  // by number: calls unknown to libseccomp work, names do not
  FilterAction action;
  std::vector<ArgumentTest> when;  // all must hold; at most one for each argument
};

struct FilterSpec {
  FilterAction otherwise;
  // Calls of another architecture than the one we are built for, and x32 numbers.
  FilterAction foreign = FilterAction::kill_process();
  std::vector<FilterRule> rules;  // several for one call: any may match
};

// The program, with a binary search over the call numbers. Rules whose action is `otherwise` are
// refused (invalid): they say nothing, and hide that the author meant something.
Result<std::vector<sock_filter>> compile_filter(const FilterSpec& spec);

}  // namespace cordon::os
