// SPDX-License-Identifier: Apache-2.0
// The filters of our own programs: short, exactly their lists, and closed to what opens doors.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <iostream>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "os/filter/own_calls.h"
#include "os/filter/test_inputs.h"
#include "os/prctl.h"
#include "os/seccomp.h"
#include "os/seccomp_linear.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

class OwnFilter : public testing::TestWithParam<OwnProgram> {
 protected:
  FilterProgram program_ = own_filter(GetParam());
  std::vector<RuledCall> calls_ = own_calls(GetParam());
};

TEST_P(OwnFilter, IsShortAndNamesEachCallOnce) {
  std::vector<int> numbers;
  numbers.reserve(calls_.size());
  for (const RuledCall& row : calls_) numbers.push_back(row.call.number);
  std::ranges::sort(numbers);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
  EXPECT_LE(calls_.size(), kMostOwnCalls);
  EXPECT_GT(calls_.size(), 5U);
  std::cout << to_string(GetParam()) << ": " << calls_.size() << " calls, " << program_.size()
            << " instructions\n";
}

TEST_P(OwnFilter, IsWhatItsListCompilesTo) {
  const auto compiled = compile_filter(own_spec(GetParam()));
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_TRUE(std::ranges::equal(*compiled, program_, [](const auto& a, const auto& b) {
    return a.code == b.code && a.jt == b.jt && a.jf == b.jf && a.k == b.k;
  }));
}

TEST_P(OwnFilter, AnswersAsItsListOverEveryNumber) {
  const FilterSpec spec = own_spec(GetParam());
  for (int number = -2; number <= 1000; ++number) {
    const seccomp_data data = make_call_data(number);
    ASSERT_EQ(run_bpf(program_, data).answer, model_answer(spec, data)) << number;
  }
  for (const RuledCall& row : calls_) {
    for (const CallArguments& arguments : candidates(row)) {
      const seccomp_data data = make_call_data(row.call.number, arguments);
      ASSERT_EQ(run_bpf(program_, data).answer, model_answer(spec, data)) << row.call.name;
    }
  }
  EXPECT_EQ(run_bpf(program_, make_call_data(SYS_close, {}, kOtherArch)).answer,
            SECCOMP_RET_KILL_PROCESS);
}

TEST_P(OwnFilter, NamesNoCallThatExecutesTracesOrOpens) {
  for (const int number :
       {SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
        SYS_openat, SYS_openat2, SYS_open_tree, SYS_mount, SYS_bpf, SYS_setuid, SYS_kill,
        SYS_unshare, SYS_setns, SYS_memfd_create, SYS_io_uring_setup, SYS_userfaultfd}) {
    // To open is what it is for, below a root with nothing in it but a sandbox's tree.
    const bool opens = number == SYS_openat || number == SYS_openat2;
    if (GetParam() == OwnProgram::files && opens) continue;
    EXPECT_EQ(run_bpf(program_, make_call_data(number)).answer,
              to_answer(FilterAction::fail(EPERM)))
        << number;
  }
}

TEST_P(OwnFilter, KeepsMemoryFromBeingExecuted) {
  const auto answer = [&](int number, std::uint64_t protection) {
    return run_bpf(program_, make_call_data(number, {0, 0, protection})).answer;
  };
  for (const int number : {SYS_mmap, SYS_mprotect}) {
    EXPECT_EQ(answer(number, PROT_READ | PROT_WRITE), SECCOMP_RET_ALLOW);
    EXPECT_EQ(answer(number, PROT_READ | PROT_EXEC), to_answer(FilterAction::fail(EPERM)));
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, OwnFilter, testing::ValuesIn(kOwnPrograms),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

// In the kernel, each refusal beside what the same child could do a moment before.
TEST(BrokerFilterLive, RefusesWhatItsProgramNeverDoes) {
  const auto attempts = [] {
    std::string said;
    const auto add = [&](const char* name, long result) {
      said += std::string{name} + (result < 0 ? (errno == EPERM ? " EPERM " : " other ") : " ok ");
      if (result > 2 && result < 1000) ::close(static_cast<int>(result));
    };
    add("open", ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
    add("socket", ::syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
    add("memfd", ::syscall(SYS_memfd_create, "x", 0));
    add("getpid", ::syscall(SYS_getpid));
    add("dup", ::syscall(SYS_dup, 1));
    return said;
  };
  const std::string said = in_child([&]() -> std::string {
    const std::string before = attempts();
    if (const auto done = set_no_new_privs(); !done) return outcome(done);
    if (const auto done = seccomp_load(own_filter(OwnProgram::broker)); !done) return outcome(done);
    // write(2) is not on the list either: what is said goes by exit code.
    const bool open_before = before == "open ok socket ok memfd ok getpid ok dup ok ";
    const bool shut = attempts() == "open EPERM socket EPERM memfd EPERM getpid EPERM dup EPERM ";
    ::syscall(SYS_exit_group, open_before && shut ? 40 : 41);
    return {};
  });
  EXPECT_EQ(said, "exit 40");
}

}  // namespace
}  // namespace cordon::os
