// SPDX-License-Identifier: Apache-2.0
#include "os/seccomp_compile.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <set>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kNative = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kOther = AUDIT_ARCH_I386;
#else
constexpr std::uint32_t kNative = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kOther = AUDIT_ARCH_ARM;
#endif
constexpr std::uint32_t kNoAnswer = 0xDEADBEEF;

bool jump_holds(const sock_filter& op, std::uint32_t a) {
  switch (BPF_OP(op.code)) {
    case BPF_JEQ:
      return a == op.k;
    case BPF_JGT:
      return a > op.k;
    case BPF_JGE:
      return a >= op.k;
    case BPF_JSET:
      return (a & op.k) != 0;
    default:
      return true;  // BPF_JA
  }
}

// What the kernel would answer: a classic BPF machine, as far as libseccomp uses it.
struct Outcome {
  std::uint32_t answer = kNoAnswer;
  std::size_t steps = 0;
};

Outcome run(const std::vector<sock_filter>& program, const seccomp_data& data) {
  std::uint32_t a = 0;
  std::size_t steps = 0;
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    ++steps;
    const sock_filter& op = program[pc];
    switch (BPF_CLASS(op.code)) {
      case BPF_LD:
        if (op.k + sizeof a > sizeof data) return {};
        std::memcpy(&a, reinterpret_cast<const char*>(&data) + op.k, sizeof a);
        break;
      case BPF_ALU:
        if (BPF_OP(op.code) != BPF_AND) return {};
        a &= op.k;
        break;
      case BPF_JMP:
        if (BPF_OP(op.code) == BPF_JA) {
          pc += op.k;
        } else {
          pc += jump_holds(op, a) ? op.jt : op.jf;
        }
        break;
      case BPF_RET:
        return {op.k, steps};
      default:
        return {};
    }
  }
  return {};
}

std::uint32_t answer(const std::vector<sock_filter>& program, int number,
                     std::initializer_list<std::uint64_t> arguments = {},
                     std::uint32_t arch = kNative) {
  seccomp_data data{.nr = number, .arch = arch, .instruction_pointer = 0, .args = {}};
  std::size_t i = 0;
  for (const std::uint64_t argument : arguments) data.args[i++] = argument;
  return run(program, data).answer;
}

constexpr std::uint32_t kFailEnosys = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kFailEperm = SECCOMP_RET_ERRNO | EPERM;

std::vector<sock_filter> compile(const FilterSpec& spec) {
  auto program = compile_filter(spec);
  EXPECT_TRUE(program) << program.error().text();
  return program ? *std::move(program) : std::vector<sock_filter>{};
}

TEST(SeccompCompile, AnswersEveryNumberByItsRuleOrTheDefault) {
  const std::set<int> allowed{SYS_read,        SYS_write,   SYS_openat,
                              SYS_exit_group,  SYS_mmap,    abi::kFchmodat2,
                              abi::kListmount, abi::kMseal, 500};
  FilterSpec spec{.otherwise = FilterAction::fail(ENOSYS)};
  for (const int number : allowed) spec.rules.push_back({number, FilterAction::allow(), {}});
  const auto program = compile(spec);
  for (int number = 0; number < 1024; ++number) {
    EXPECT_EQ(answer(program, number), allowed.contains(number) ? SECCOMP_RET_ALLOW : kFailEnosys)
        << number;
  }
}

TEST(SeccompCompile, KillsCallsOfAnotherArchitecture) {
  const auto program = compile(
      {.otherwise = FilterAction::allow(), .rules = {{SYS_ptrace, FilterAction::fail(EPERM), {}}}});
  EXPECT_EQ(answer(program, SYS_read), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_read, {}, kOther), SECCOMP_RET_KILL_PROCESS);
}

#if defined(__x86_64__)
TEST(SeccompCompile, TreatsX32NumbersAsForeign) {
  const auto program = compile({.otherwise = FilterAction::allow(),
                                .foreign = FilterAction::fail(ENOSYS),
                                .rules = {{SYS_ptrace, FilterAction::fail(EPERM), {}}}});
  EXPECT_EQ(answer(program, SYS_read | 0x40000000), kFailEnosys);
  EXPECT_EQ(answer(program, SYS_ptrace | 0x40000000), kFailEnosys);
}
#endif

TEST(SeccompCompile, ComparesBothHalvesOfAnArgument) {
  const auto program =
      compile({.otherwise = FilterAction::fail(ENOSYS),
               .rules = {{SYS_prctl, FilterAction::allow(), {{.index = 0, .value = 15}}}}});
  EXPECT_EQ(answer(program, SYS_prctl, {15}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_prctl, {16}), kFailEnosys);
  EXPECT_EQ(answer(program, SYS_prctl, {15 | (1ULL << 32U)}), kFailEnosys);
}

TEST(SeccompCompile, MaskedComparesTheBitsOfTheMaskOnly) {
  // ioctl TIOCSTI, whose number the kernel takes from the low half.
  const auto program = compile(
      {.otherwise = FilterAction::allow(),
       .rules = {
           {SYS_ioctl,
            FilterAction::fail(EPERM),
            {{.index = 1, .op = ArgumentTest::Op::masked, .value = 0x5412, .mask = 0xFFFFFFFF}}}}});
  EXPECT_EQ(answer(program, SYS_ioctl, {0, 0x5412}), kFailEperm);
  EXPECT_EQ(answer(program, SYS_ioctl, {0, 0x5412 | (7ULL << 32U)}), kFailEperm);
  EXPECT_EQ(answer(program, SYS_ioctl, {0, 0x5413}), SECCOMP_RET_ALLOW);
}

struct OpCase {
  ArgumentTest::Op op;
  bool below, same, above;
};

TEST(SeccompCompile, ComparesAsItsNamesSay) {
  using Op = ArgumentTest::Op;
  constexpr std::uint64_t kValue = (5ULL << 32U) | 5U;
  for (const OpCase& c :
       {OpCase{Op::equal, false, true, false}, OpCase{Op::not_equal, true, false, true},
        OpCase{Op::less, true, false, false}, OpCase{Op::at_most, true, true, false},
        OpCase{Op::greater, false, false, true}, OpCase{Op::at_least, false, true, true}}) {
    const auto program = compile(
        {.otherwise = FilterAction::fail(ENOSYS),
         .rules = {
             {SYS_prctl, FilterAction::allow(), {{.index = 5, .op = c.op, .value = kValue}}}}});
    const auto holds = [&](std::uint64_t argument) {
      return answer(program, SYS_prctl, {0, 0, 0, 0, 0, argument}) == SECCOMP_RET_ALLOW;
    };
    const int op = static_cast<int>(c.op);
    EXPECT_EQ(holds(kValue - 1), c.below) << op;
    EXPECT_EQ(holds(kValue), c.same) << op;
    EXPECT_EQ(holds(kValue + 1), c.above) << op;
    EXPECT_EQ(holds(kValue - (1ULL << 32U)), c.below) << op;
    EXPECT_EQ(holds(kValue + (1ULL << 32U)), c.above) << op;
  }
}

TEST(SeccompCompile, AllTestsOfARuleMustHoldAndAnyRuleOfACallMay) {
  const auto program =
      compile({.otherwise = FilterAction::fail(ENOSYS),
               .rules = {{SYS_socket,
                          FilterAction::allow(),
                          {{.index = 0, .value = 1}, {.index = 2, .value = 0}}},
                         {SYS_socket, FilterAction::allow(), {{.index = 0, .value = 2}}}}});
  EXPECT_EQ(answer(program, SYS_socket, {1, 9, 0}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_socket, {1, 9, 6}), kFailEnosys);
  EXPECT_EQ(answer(program, SYS_socket, {2, 9, 6}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_socket, {3, 9, 0}), kFailEnosys);
}

TEST(SeccompCompile, KnowsEveryAction) {
  const auto program = compile({.otherwise = FilterAction::allow(),
                                .rules = {{SYS_mount, FilterAction::notify(), {}},
                                          {SYS_ptrace, FilterAction::kill_process(), {}},
                                          {SYS_bpf, FilterAction::log(), {}},
                                          {SYS_reboot, FilterAction::fail(EPERM), {}}}});
  EXPECT_EQ(answer(program, SYS_mount), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(answer(program, SYS_ptrace), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(answer(program, SYS_bpf), SECCOMP_RET_LOG);
  EXPECT_EQ(answer(program, SYS_reboot), kFailEperm);
}

TEST(SeccompCompile, SearchesInsteadOfWalkingAlongTheList) {
  FilterSpec spec{.otherwise = FilterAction::fail(ENOSYS)};
  for (int number = 0; number < 256; ++number) {
    spec.rules.push_back({number, FilterAction::allow(), {}});
  }
  const auto program = compile(spec);
  for (int number = 0; number < 256; ++number) {
    const Outcome got = run(program, {.nr = number, .arch = kNative});
    EXPECT_EQ(got.answer, SECCOMP_RET_ALLOW);
    EXPECT_LT(got.steps, 48U) << number << ": a walk takes as many steps as there are calls";
  }
}

TEST(SeccompCompile, RefusesRulesThatCannotMeanWhatTheySay) {
  const auto refuses = [](const FilterRule& rule) {
    const auto program = compile_filter({.otherwise = FilterAction::fail(ENOSYS), .rules = {rule}});
    return !program && program.error().code() == Errc::invalid;
  };
  using Op = ArgumentTest::Op;
  EXPECT_TRUE(refuses({-1, FilterAction::allow(), {}}));
  EXPECT_TRUE(refuses({SYS_read, FilterAction::fail(ENOSYS), {}}));
  EXPECT_TRUE(refuses({SYS_read, FilterAction::allow(), {{.index = 6}}}));
  EXPECT_TRUE(
      refuses({SYS_read, FilterAction::allow(), {{.op = Op::masked, .value = 3, .mask = 1}}}));
  EXPECT_TRUE(
      refuses({SYS_read, FilterAction::allow(), {{.op = Op::equal, .value = 3, .mask = 1}}}));
  EXPECT_TRUE(refuses({SYS_read, FilterAction::allow(), {{.index = 0}, {.index = 0, .value = 1}}}));
  EXPECT_FALSE(refuses({SYS_read, FilterAction::allow(), {}}));
}

}  // namespace
}  // namespace cordon::os
