// SPDX-License-Identifier: Apache-2.0
// The generated programs, in a BPF machine, against the table and against golden files.
#include <cerrno>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "base/golden_test.h"
#include "os/filter/test_inputs.h"
#include "os/filter/test_sweep.h"
#include "os/seccomp_linear.h"

namespace cordon::os {
namespace {

class FilterProgramTest : public testing::TestWithParam<FilterProfile> {
 protected:
  FilterProgram program_ = filter_program(GetParam());
  FilterSpec spec_ = profile_spec(GetParam());
  ProfileTable table_ = profile_table(GetParam());
};

TEST_P(FilterProgramTest, IsWhatTheTableCompilesTo) {
  const auto compiled = compile_filter(spec_);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_TRUE(std::ranges::equal(*compiled, program_, [](const auto& a, const auto& b) {
    return a.code == b.code && a.jt == b.jt && a.jf == b.jf && a.k == b.k;
  }));
}

// C106: at and around every number of every rule; and no instruction, and neither way of any jump,
// is left that no call takes.
TEST_P(FilterProgramTest, AnswersAsTheTableOnEveryPathThroughIt) {
  BpfCoverage coverage{program_.size()};
  const auto check = [&](const seccomp_data& data) {
    return run_bpf(program_, data, &coverage).answer == model_answer(spec_, data);
  };
  for (int number = -2; number <= 1000; ++number) ASSERT_TRUE(check(make_call_data(number)));
  for (const int number : {0x40000000, 0x40000001, 0x7FFFFFFF, -1000}) {
    ASSERT_TRUE(check(make_call_data(number))) << number;
  }
  ASSERT_TRUE(check(make_call_data(0, {}, kOtherArch)));
  for (const auto& [number, row] : table_) {
    for (const CallArguments& arguments : candidates(row)) {
      ASSERT_EQ(run_bpf(program_, make_call_data(number, arguments), &coverage).answer,
                to_answer(decide(row, arguments)))
          << row.call.name;
    }
  }
  for (std::size_t i = 0; i < program_.size(); ++i) {
    EXPECT_TRUE(coverage.ran[i]) << "instruction " << i;
    const bool jumps = BPF_CLASS(program_[i].code) == BPF_JMP && BPF_OP(program_[i].code) != BPF_JA;
    EXPECT_EQ(coverage.jumped[i] && coverage.passed[i], jumps) << "jump " << i;
  }
}

// A binary search, and one rule after the other: the same answers.
TEST_P(FilterProgramTest, AnswersAsALinearProgramOfTheSameTable) {
  const std::vector<sock_filter> linear = LinearCompiler::compile(spec_);
  const auto check = [&](const seccomp_data& data) {
    return run_bpf(program_, data).answer == run_bpf(linear, data).answer;
  };
  for (int number = -2; number <= 1000; ++number) ASSERT_TRUE(check(make_call_data(number)));
  for (const int number : {0x3FFFFFFF, 0x40000000, 0x40000001, 0x7FFFFFFF, -1000}) {
    ASSERT_TRUE(check(make_call_data(number))) << number;
  }
  ASSERT_TRUE(check(make_call_data(0, {}, kOtherArch)));
  for (const auto& [number, row] : table_) {
    for (const CallArguments& arguments : candidates(row)) {
      ASSERT_TRUE(check(make_call_data(number, arguments))) << row.call.name;
    }
  }
}

TEST_P(FilterProgramTest, AnswersAsTheTableOnRandomCalls) {
  std::mt19937_64 random{7};
  for (int i = 0; i < 50'000; ++i) {
    CallArguments arguments{};
    for (std::uint64_t& argument : arguments) {
      argument = random() >> (random() % 64);
      if (random() % 4 == 0) argument |= random() << 32U;
    }
    const auto data = make_call_data(static_cast<int>(random() % 480), arguments);
    const auto row = table_.find(data.nr);
    const FilterAction expected =
        row == table_.end() ? FilterAction::fail(ENOSYS) : decide(row->second, arguments);
    ASSERT_EQ(run_bpf(program_, data).answer, to_answer(expected)) << data.nr;
  }
}

// C100, C101, C102.
TEST_P(FilterProgramTest, KillsForeignCallsAndKnowsNoX32OrUnknownNumbers) {
  const auto answer = [&](int number, std::uint32_t arch = kNativeArch) {
    return run_bpf(program_, make_call_data(number, {}, arch)).answer;
  };
  constexpr std::uint32_t kAbsent = SECCOMP_RET_ERRNO | ENOSYS;
  for (int number = 0; number <= 600; ++number) {
    EXPECT_EQ(answer(number, kOtherArch), SECCOMP_RET_KILL_PROCESS);
    EXPECT_EQ(answer(number | 0x40000000), kAbsent);
    if (number > 470) EXPECT_EQ(answer(number), kAbsent);
  }
  EXPECT_EQ(answer(-1), kAbsent);
}

// The search takes steps by the logarithm of the calls. Loading walks it for every number, too.
TEST_P(FilterProgramTest, FindsACallIn16StepsAtMost) {
  for (const Call& call : plain_calls()) {
    if (!table_.contains(call.number) || !table_.at(call.number).clauses.empty()) continue;
    EXPECT_LE(run_bpf(program_, make_call_data(call.number)).steps, 16U) << call.name;
  }
}

std::string to_text(const FilterAction& action) {
  switch (action.kind) {
    case FilterAction::Kind::allow:
      return "allow";
    case FilterAction::Kind::notify:
      return "notify";
    case FilterAction::Kind::fail:
      return strerrorname_np(action.error_number);
    case FilterAction::Kind::log:
      return "log";
    case FilterAction::Kind::kill_process:
      return "kill";
  }
  return {};
}

std::string to_text(std::uint32_t answer) {
  if (answer == SECCOMP_RET_ALLOW) return "allow";
  if (answer == SECCOMP_RET_USER_NOTIF) return "notify";
  if (answer == SECCOMP_RET_KILL_PROCESS) return "kill";
  return strerrorname_np(static_cast<int>(answer & SECCOMP_RET_DATA));
}

std::string to_text(const ArgumentTest& test) {
  switch (test.op) {
    case ArgumentTest::Op::equal:
      return fmt::format("a{} == {:#x}", test.index, test.value);
    case ArgumentTest::Op::masked:
      return test.mask == kLowHalf
                 ? fmt::format("a{} == {:#x}", test.index, test.value)
                 : fmt::format("a{} & {:#x} == {:#x}", test.index, test.mask, test.value);
    default:
      return fmt::format("a{} & {:#x} != 0", test.index, test.mask);
  }
}

std::map<int, std::string_view> names() {
  std::map<int, std::string_view> all;
  for (const Call& row : plain_calls()) all.emplace(row.number, row.name);
  for (const Call& row : absent_calls()) all.emplace(row.number, row.name);
  for (const RefusedCall& row : compat_calls()) all.emplace(row.call.number, row.call.name);
  for (const RefusedCall& row : refused_calls()) all.emplace(row.call.number, row.call.name);
  for (const RuledCall& row : ruled_calls(FilterBase::strict)) {
    all.emplace(row.call.number, row.call.name);
  }
  return all;
}

// Every number by what the program answers to all-zero and all-one arguments, then the rules.
std::string sweep(FilterProfile profile) {
  const FilterProgram program = filter_program(profile);
  const ProfileTable table = profile_table(profile);
  const auto by_number = names();
  CallArguments ones{};
  ones.fill(~std::uint64_t{0});
  std::string text =
      fmt::format("# {}: number, name, answer to zeros, answer to ones\n", to_string(profile));
  const auto line = [&](int number, std::string_view name) {
    text += fmt::format("{} {} {} {}\n", number, name,
                        to_text(run_bpf(program, make_call_data(number)).answer),
                        to_text(run_bpf(program, make_call_data(number, ones)).answer));
    if (const auto row = table.find(number); row != table.end() && !row->second.clauses.empty()) {
      for (const Clause& clause : row->second.clauses) {
        text += "    " + to_text(clause.action) + " if";
        for (const ArgumentTest& test : clause.when) {
          text += (&test == clause.when.data() ? " " : ", ") + to_text(test);
        }
        text += '\n';
      }
      text += "    else " + to_text(row->second.otherwise) + '\n';
    }
  };
  for (int number = 0; number <= 600; ++number) {
    const auto name = by_number.find(number);
    line(number, name == by_number.end() ? "-" : name->second);
  }
  line(-1, "-");
  line(0x40000000, "x32");
  return text;
}

#if defined(__x86_64__)  // the numbers of the other one are others
std::string golden_of(std::string_view file) {
  return "tests/filter/golden/" + std::string{file} + ".txt";
}

// C105.
TEST_P(FilterProgramTest, AnswersToEveryNumberAreAsReviewed) {
  expect_golden(golden_of(to_string(GetParam())), sweep(GetParam()));
}

// C106: not what the table says, but what the programs answer, to every value of every argument.
TEST(FilterPrograms, AnswersToEveryArgumentAreAsReviewed) {
  expect_golden(golden_of("sweep"), Sweep{built_programs()}.text());
}
#endif

std::string test_name(const testing::TestParamInfo<FilterProfile>& info) {
  std::string name{to_string(info.param)};
  std::ranges::replace(name, '+', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Profiles, FilterProgramTest, testing::ValuesIn(kFilterProfiles),
                         test_name);

}  // namespace
}  // namespace cordon::os
