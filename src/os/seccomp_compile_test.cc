// SPDX-License-Identifier: Apache-2.0
#include "os/seccomp_compile.h"

#include <cerrno>
#include <random>
#include <set>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "os/kernel_abi.h"
#include "os/seccomp_model.h"

namespace cordon::os {
namespace {

std::uint32_t answer(const std::vector<sock_filter>& program, int number,
                     std::initializer_list<std::uint64_t> arguments = {},
                     std::uint32_t arch = kNativeArch) {
  CallArguments all{};
  std::ranges::copy(arguments, all.begin());
  return run_bpf(program, make_call_data(number, all, arch)).answer;
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
  EXPECT_EQ(answer(program, SYS_read, {}, kOtherArch), SECCOMP_RET_KILL_PROCESS);
}

#if defined(__x86_64__)
TEST(SeccompCompile, TreatsX32NumbersAsForeign) {
  const auto program = compile({.otherwise = FilterAction::allow(),
                                .foreign = FilterAction::fail(ENOSYS),
                                .rules = {{SYS_ptrace, FilterAction::fail(EPERM), {}}}});
  EXPECT_EQ(answer(program, SYS_read | 0x40000000), kFailEnosys);
  EXPECT_EQ(answer(program, SYS_ptrace | 0x40000000), kFailEnosys);
  EXPECT_EQ(answer(program, -1), SECCOMP_RET_ALLOW) << "a tracer's mark, not a number";
}

TEST(SeccompCompile, AnswersX32NumbersAsItIsTold) {
  const auto program = compile({.otherwise = FilterAction::fail(ENOSYS),
                                .x32 = FilterAction::fail(EPERM),
                                .rules = {{SYS_read, FilterAction::allow(), {}}}});
  EXPECT_EQ(answer(program, SYS_read), SECCOMP_RET_ALLOW);
  EXPECT_EQ(answer(program, SYS_read | 0x40000000), kFailEperm);
  EXPECT_EQ(answer(program, -2), kFailEperm);
  EXPECT_EQ(answer(program, 0x3FFFFFFF), kFailEnosys);
  EXPECT_EQ(answer(program, SYS_read, {}, kOtherArch), SECCOMP_RET_KILL_PROCESS);
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

TEST(SeccompCompile, TheFirstRuleThatMatchesDecides) {
  using Op = ArgumentTest::Op;
  const auto program =
      compile({.otherwise = FilterAction::fail(ENOSYS),
               .rules = {{SYS_futex,
                          FilterAction::fail(ENOSYS),
                          {{.index = 1, .op = Op::masked, .value = 11, .mask = 0x7F}}},
                         {SYS_futex,
                          FilterAction::fail(EPERM),
                          {{.index = 1, .op = Op::masked, .value = 12, .mask = 0x7F}}},
                         {SYS_futex, FilterAction::allow(), {}}}});
  EXPECT_EQ(answer(program, SYS_futex, {0, 11 | 0x80}), kFailEnosys);
  EXPECT_EQ(answer(program, SYS_futex, {0, 12 | 0x80}), kFailEperm);
  EXPECT_EQ(answer(program, SYS_futex, {0, 0x80}), SECCOMP_RET_ALLOW);
}

TEST(SeccompCompile, AnyBitOfEitherHalfMatches) {
  const auto program =
      compile({.otherwise = FilterAction::allow(),
               .rules = {{SYS_unshare,
                          FilterAction::fail(EPERM),
                          {{.op = ArgumentTest::Op::any_bit, .mask = 0x1'0000'0080ULL}}}}});
  EXPECT_EQ(answer(program, SYS_unshare, {0x80}), kFailEperm);
  EXPECT_EQ(answer(program, SYS_unshare, {0x1'0000'0000ULL}), kFailEperm);
  EXPECT_EQ(answer(program, SYS_unshare, {~0x1'0000'0080ULL}), SECCOMP_RET_ALLOW);
}

// Programs so long that no conditional jump spans them, with rules that are shared from afar.
TEST(SeccompCompile, LongProgramsAnswerAsTheirTablesDo) {
  FilterSpec spec{.otherwise = FilterAction::fail(ENOSYS)};
  for (int number = 0; number < 300; ++number) {
    const auto value = static_cast<std::uint64_t>(number % 90);
    spec.rules.push_back({number, FilterAction::allow(), {{.index = 1, .value = value}}});
    spec.rules.push_back({number, FilterAction::fail(EPERM), {{.index = 2, .value = value}}});
  }
  const auto program = compile(spec);
  ASSERT_GT(program.size(), 512U);
  std::mt19937 random{1};
  for (int i = 0; i < 20000; ++i) {
    const auto data =
        make_call_data(static_cast<int>(random() % 301), {0, random() % 100, random() % 100});
    ASSERT_EQ(run_bpf(program, data).answer, model_answer(spec, data)) << data.nr;
  }
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
    const BpfOutcome got = run_bpf(program, make_call_data(number));
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
  EXPECT_TRUE(refuses({SYS_read, FilterAction::allow(), {{.op = Op::masked}}}));
  EXPECT_TRUE(refuses({SYS_read, FilterAction::allow(), {{.op = Op::any_bit}}}));
  EXPECT_TRUE(
      refuses({SYS_read, FilterAction::allow(), {{.op = Op::any_bit, .value = 1, .mask = 1}}}));
  EXPECT_TRUE(refuses({SYS_read, FilterAction::fail(4096), {}}));
  EXPECT_FALSE(refuses({SYS_read, FilterAction::allow(), {}}));
}

TEST(SeccompCompile, RefusesRulesBehindOneThatAlwaysMatches) {
  const auto program = compile_filter({.otherwise = FilterAction::fail(ENOSYS),
                                       .rules = {{SYS_read, FilterAction::allow(), {}},
                                                 {SYS_read, FilterAction::fail(EPERM), {{}}}}});
  EXPECT_FALSE(program);
}

}  // namespace
}  // namespace cordon::os
