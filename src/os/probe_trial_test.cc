// SPDX-License-Identifier: Apache-2.0
// A trial tells the truth about its child and leaves none behind.
#include "os/probe_trial.h"

#include <cerrno>
#include <filesystem>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace cordon::os {
namespace {

TrialLimit within(std::chrono::milliseconds span) {
  return {std::chrono::steady_clock::now() + span, span};
}

Fact try_out(const Experiment& experiment,
             std::chrono::milliseconds span = std::chrono::seconds{10}) {
  return Trial::start(experiment).finish(within(span));
}

std::ptrdiff_t count_descriptors() {
  return std::ranges::distance(std::filesystem::directory_iterator{"/proc/self/fd"});
}

TEST(Trial, BringsTheWholeFactBack) {
  const Fact fact{Support::limited, "in part", "sudo true"};
  EXPECT_EQ(try_out([&] { return Fact{fact}; }), fact);
  EXPECT_EQ(try_out([] { return Fact{Support::absent, {}, {}}; }), (Fact{Support::absent, {}, {}}));
}

TEST(Trial, KeepsWhatTheExperimentDoesAwayFromUs) {
  static int touched = 0;
  EXPECT_EQ(try_out([] {
              ++touched;
              return ok_fact(std::to_string(touched));
            }).detail,
            "1");
  EXPECT_EQ(touched, 0);
}

TEST(Trial, TellsHowAnExperimentDied) {
  EXPECT_EQ(try_out([]() -> Fact {
              ::kill(::getpid(), SIGKILL);
              return {};
            }),
            (Fact{Support::blocked, "the probe was killed by signal 9", {}}));
  EXPECT_EQ(try_out([]() -> Fact { ::_exit(7); }),
            (Fact{Support::blocked, "the probe ended with exit code 7", {}}));
}

TEST(Trial, KillsWhatDoesNotAnswerInTime) {
  const auto hang = []() -> Fact {
    for (;;) ::pause();
  };
  EXPECT_EQ(try_out(hang, std::chrono::milliseconds{20}),
            (Fact{Support::blocked, "did not answer within 20 ms", {}}));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Trial, LeavesNoChildAndNoDescriptorWhenItIsDropped) {
  const auto before = count_descriptors();
  {
    const Trial trial = Trial::start([]() -> Fact {
      for (;;) ::pause();
    });
    EXPECT_GT(count_descriptors(), before);
  }
  EXPECT_EQ(count_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(RefusedFact, TellsLackFromProhibition) {
  EXPECT_EQ(refused_fact(Error::from_errno("call", ENOSYS)).support, Support::absent);
  EXPECT_EQ(refused_fact(Error::from_errno("call", ENODEV)).support, Support::absent);
  EXPECT_EQ(refused_fact(Error::from_errno("call", EPERM)).support, Support::blocked);
  EXPECT_EQ(refused_fact(Error{Errc::unavailable, "no"}).support, Support::blocked);
}

}  // namespace
}  // namespace cordon::os
