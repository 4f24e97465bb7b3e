// SPDX-License-Identifier: Apache-2.0
// Not by libseccomp: it has one default for all calls, and no order among the rules of one, so that
// "these socket families, else EAFNOSUPPORT; these types, else EPERM" cannot be said to it.
#include "os/seccomp_compile.h"

#include <cstddef>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <map>
#include <span>
#include <string>

#include "os/seccomp_rules.h"

namespace cordon::os {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArch = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kX32 = 0x40000000;
#else
constexpr std::uint32_t kArch = AUDIT_ARCH_AARCH64;
#endif
constexpr std::uint32_t kNoCall = 0xFFFFFFFF;  // -1: how a tracer skips a call

Error refused(const FilterRule& rule, std::string_view why) {
  return Error{Errc::invalid,
               "filter rule for call " + std::to_string(rule.syscall) + ": " + std::string{why}};
}

Status check_test(const FilterRule& rule, const ArgumentTest& test) {
  if (test.index > 5) return refused(rule, "arguments are 0 to 5");
  const bool masked = test.op == ArgumentTest::Op::masked;
  const bool any_bit = test.op == ArgumentTest::Op::any_bit;
  if (masked && (test.value & ~test.mask) != 0) {
    return refused(rule, "a value with bits outside its mask never matches");
  }
  if (any_bit && test.value != 0) return refused(rule, "`any_bit` has no value");
  if ((masked || any_bit) && test.mask == 0) return refused(rule, "an empty mask asks nothing");
  if (!masked && !any_bit && test.mask != 0) return refused(rule, "a mask without `masked`");
  return {};
}

Status check_rule(const FilterRule& rule) {
  constexpr int kMostErrno = 4095;
  if (rule.syscall < 0) return refused(rule, "no such number");
#if defined(__x86_64__)
  if (static_cast<std::uint32_t>(rule.syscall) >= kX32) return refused(rule, "an x32 number");
#endif
  if (rule.action.error_number < 0 || rule.action.error_number > kMostErrno) {
    return refused(rule, "no such errno");
  }
  unsigned seen = 0;
  for (const ArgumentTest& test : rule.when) {
    TRY_DO(check_test(rule, test));
    const unsigned bit = 1U << test.index;
    if ((seen & bit) != 0) return refused(rule, "two tests of one argument");
    seen |= bit;
  }
  return {};
}

using Calls = std::map<std::uint32_t, std::vector<FilterRule>>;

Result<Calls> by_call(const FilterSpec& spec) {
  Calls calls;
  for (const FilterRule& rule : spec.rules) {
    TRY_DO(check_rule(rule));
    std::vector<FilterRule>& rules = calls[static_cast<std::uint32_t>(rule.syscall)];
    if (!rules.empty() && rules.back().when.empty()) {
      return refused(rule, "stands behind one that always matches");
    }
    rules.push_back(rule);
  }
  for (const auto& [number, rules] : calls) {
    if (rules.back().action == spec.otherwise) {
      return refused(rules.back(), "its action is the default");
    }
  }
  return calls;
}

// From `first` on, up to the next one's first, calls are answered by `rules`, whose own numbers are
// 0.
struct CallRange {
  std::uint32_t first = 0;
  std::vector<FilterRule> rules;
};

// All numbers from 0 to 2^32 - 1, as few ranges as there can be.
std::vector<CallRange> to_ranges(const FilterSpec& spec, Calls calls) {
  std::vector<CallRange> ranges{{.first = 0, .rules = {}}};
  const auto append = [&](std::uint32_t first, std::vector<FilterRule> rules) {
    if (ranges.back().rules == rules) return;
    if (ranges.back().first == first) ranges.pop_back();
    // What is left of an empty range may now equal what comes.
    if (!ranges.empty() && ranges.back().rules == rules) return;
    ranges.push_back({first, std::move(rules)});
  };
  for (auto& [number, rules] : calls) {
    for (FilterRule& rule : rules) rule.syscall = 0;  // two calls with the same rules compare equal
    append(number, std::move(rules));
    append(number + 1, {});
  }
#if defined(__x86_64__)
  const FilterAction x32 = spec.x32.value_or(spec.foreign);
  if (x32 != spec.otherwise) {
    append(kX32, {{.syscall = 0, .action = x32, .when = {}}});
    append(kNoCall, {});
  }
#else
  static_cast<void>(kNoCall);
  static_cast<void>(spec);
#endif
  return ranges;
}

BpfAssembler::Target search(BpfAssembler& assembler, RuleWriter& writer,
                            std::span<const CallRange> ranges) {
  if (ranges.size() == 1) return writer.write(ranges.front().rules);
  const std::size_t half = ranges.size() / 2;
  const auto from = search(assembler, writer, ranges.subspan(half));
  const auto below = search(assembler, writer, ranges.first(half));
  return assembler.jump_if(BPF_JGE, ranges[half].first, from, below);
}

}  // namespace

std::uint32_t to_answer(const FilterAction& action) {
  switch (action.kind) {
    case FilterAction::Kind::allow:
      return SECCOMP_RET_ALLOW;
    case FilterAction::Kind::fail:
      return SECCOMP_RET_ERRNO | static_cast<std::uint16_t>(action.error_number);
    case FilterAction::Kind::notify:
      return SECCOMP_RET_USER_NOTIF;
    case FilterAction::Kind::log:
      return SECCOMP_RET_LOG;
    case FilterAction::Kind::kill_process:
      return SECCOMP_RET_KILL_PROCESS;
  }
  return SECCOMP_RET_KILL_PROCESS;
}

Result<std::vector<sock_filter>> compile_filter(const FilterSpec& spec) {
  TRY(Calls calls, by_call(spec));
  const std::vector<CallRange> ranges = to_ranges(spec, std::move(calls));
  BpfAssembler assembler;
  RuleWriter writer{assembler, spec.otherwise};
  const auto by_number =
      assembler.load(offsetof(seccomp_data, nr), search(assembler, writer, ranges));
  const auto foreign = BpfAssembler::answer(to_answer(spec.foreign));
  const auto by_arch = assembler.jump_if(BPF_JEQ, kArch, by_number, foreign);
  const auto entry = assembler.load(offsetof(seccomp_data, arch), by_arch);
  auto program = std::move(assembler).finish(entry);
  if (program.size() > BPF_MAXINSNS) {
    return Error{Errc::invalid,
                 std::to_string(program.size()) + " instructions: seccomp takes 1 to 4096"};
  }
  return program;
}

}  // namespace cordon::os
