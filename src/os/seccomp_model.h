// SPDX-License-Identifier: Apache-2.0
// For tests: what a filter's table says of a call; what its program says, os/bpf_machine.h runs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "os/bpf_machine.h"
#include "os/seccomp_compile.h"

namespace cordon::os {

inline bool argument_test_holds(const ArgumentTest& test, const seccomp_data& data) {
  const std::uint64_t argument = data.args[test.index];
  switch (test.op) {
    case ArgumentTest::Op::equal:
      return argument == test.value;
    case ArgumentTest::Op::not_equal:
      return argument != test.value;
    case ArgumentTest::Op::less:
      return argument < test.value;
    case ArgumentTest::Op::at_most:
      return argument <= test.value;
    case ArgumentTest::Op::greater:
      return argument > test.value;
    case ArgumentTest::Op::at_least:
      return argument >= test.value;
    case ArgumentTest::Op::masked:
      return (argument & test.mask) == test.value;
    case ArgumentTest::Op::any_bit:
      return (argument & test.mask) != 0;
  }
  return false;
}

// The table, read line by line.
inline std::uint32_t model_answer(const FilterSpec& spec, const seccomp_data& data) {
  if (data.arch != kNativeArch) return to_answer(spec.foreign);
#if defined(__x86_64__)
  if (data.nr >= 0x40000000 || data.nr < -1) return to_answer(spec.x32.value_or(spec.foreign));
#endif
  for (const FilterRule& rule : spec.rules) {
    if (rule.syscall != data.nr) continue;
    if (std::ranges::all_of(
            rule.when, [&](const ArgumentTest& test) { return argument_test_holds(test, data); })) {
      return to_answer(rule.action);
    }
  }
  return to_answer(spec.otherwise);
}

}  // namespace cordon::os
