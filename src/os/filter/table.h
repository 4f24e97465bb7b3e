// SPDX-License-Identifier: Apache-2.0
// The table behind all filters: one row for each system call that the kernel has or had.
//
// Every row has its place in exactly one list: allowed whatever its arguments, allowed by its
// arguments, allowed by `compat` only, refused with an errno of its own, absent. A call that has no
// row is younger than this table and looks absent too, so that C libraries fall back.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "os/seccomp_compile.h"

namespace cordon::os {

// What a profile begins with, from the narrowest to the widest: each allows what the ones before it
// allow.
enum class FilterBase : std::uint8_t { strict, compat, init };

struct Call {
  std::string_view name;
  int number = 0;
};

// A call that fails, and how: the errno is what a caller expects of a kernel that forbids it, and
// where possible not the one that the kernel itself would give, so that a test can tell them apart.
struct RefusedCall {
  Call call;
  int error_number = 0;
};

struct Clause {
  FilterAction action;
  std::vector<ArgumentTest> when;
};

// The first clause whose tests all hold decides; else `otherwise`.
struct RuledCall {
  Call call;
  std::vector<Clause> clauses;
  FilterAction otherwise;
};

// Allowed with any argument, in every profile.
std::span<const Call> plain_calls();
// Allowed from `compat` on; `strict` refuses them with the errno. ENOSYS: they look absent.
std::span<const RefusedCall> compat_calls();
// Refused in every profile.
std::span<const RefusedCall> refused_calls();
// ENOSYS in every profile, on purpose.
std::span<const Call> absent_calls();
// By argument.
std::vector<RuledCall> ruled_calls(FilterBase base);
// The longer ones of these, each in a file of its own.
RuledCall ruled_ioctl();
RuledCall ruled_prctl(FilterBase base);
RuledCall ruled_socket();
RuledCall ruled_setsockopt();

// Tests of what the kernel takes as a 32-bit number: the upper half is not looked at.
inline constexpr std::uint64_t kLowHalf = 0xFFFFFFFF;
constexpr ArgumentTest is(unsigned index, std::uint32_t value, std::uint64_t mask = kLowHalf) {
  return {.index = index, .op = ArgumentTest::Op::masked, .value = value, .mask = mask};
}
constexpr ArgumentTest has_any(unsigned index, std::uint64_t mask) {
  return {.index = index, .op = ArgumentTest::Op::any_bit, .mask = mask};
}

}  // namespace cordon::os
