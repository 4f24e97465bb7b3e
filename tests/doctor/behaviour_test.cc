// SPDX-License-Identifier: Apache-2.0
// What `cordon doctor` promises beside its findings: exit codes, and a host that is as before.
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "doctor_run.h"

namespace cordon::doctor_test {
namespace {

TEST(Doctor, ExitsWithOneWhenNothingCanBeLaunched) {
  EXPECT_EQ(run_doctor(As::caller, {"--no-openat2"}, {}).exit, 1);
}

TEST(Doctor, ExitsWithOneBelowTheRequiredLevel) {
  const Outcome run = run_doctor(As::caller, {"--no-landlock"}, {"--require", "full"});
  EXPECT_EQ(run.exit, 1);
  EXPECT_TRUE(run.err.ends_with("is below the required full\n")) << run.err;
}

TEST(Doctor, ExitsWithZeroAtTheRequiredLevel) {
  if (examine(As::caller, {}).level == "none") GTEST_SKIP() << "nothing can be launched here";
  EXPECT_EQ(run_doctor(As::caller, {"--no-landlock"}, {}).exit, 0);
  EXPECT_EQ(run_doctor(As::caller, {"--no-landlock"}, {"--require", "supervised"}).exit, 0);
}

TEST(Doctor, RefusesALevelThatDoesNotExist) {
  EXPECT_EQ(run_doctor(As::caller, {}, {"--require", "none"}).exit, 2);
}

TEST(Doctor, PrintsLinesOfAtMostAHundredColumns) {
  for (const std::vector<std::string>& masks :
       {std::vector<std::string>{}, {"--no-userns"}, {"--landlock-abi", "1"}}) {
    const Outcome run = run_doctor(As::caller, masks, {});
    std::istringstream lines{run.out};
    for (std::string line; std::getline(lines, line);) {
      if (line.find("-> ") == std::string::npos) EXPECT_LE(line.size(), 100U) << line;
    }
  }
}

std::string mounts() {
  std::ifstream in{"/proc/self/mountinfo"};
  return {std::istreambuf_iterator<char>{in}, {}};
}

// Other doctors may be at work beside this test, and new ones may begin at any moment: of the
// things that are there now, none may stay. A doctor ends well within five seconds.
template <class Things>
void expect_to_vanish(Things things) {
  auto left = things();
  for (int tries = 0; tries < 250 && !left.empty(); ++tries) {
    ::usleep(20'000);
    const auto now = things();
    std::erase_if(left, [&](const auto& it) { return std::ranges::find(now, it) == now.end(); });
  }
  EXPECT_TRUE(left.empty()) << left.front();
}

void expect_nothing_left(const std::string& mounts_before) {
  EXPECT_EQ(mounts(), mounts_before);
  expect_to_vanish(groups_of_probes);
  expect_to_vanish(living_doctors);
}

TEST(Doctor, LeavesTheHostAsItWas) {
  const std::string before = mounts();
  for (const std::vector<std::string>& masks :
       {std::vector<std::string>{}, {"--hang-openat2"}, {"--no-pidfd"}, {"--no-mount-api"}}) {
    EXPECT_LT(run_doctor(As::caller, masks, {}).exit, 2);
    expect_nothing_left(before);
  }
}

TEST(RootDoctor, LeavesNothingWhenItIsInterrupted) {
  const std::string before = mounts();
  for (const useconds_t pause : {1'000U, 5'000U, 10'000U, 20'000U, 30'000U, 40'000U, 60'000U}) {
    std::string program = CORDON_PROGRAM;
    std::string verb = "doctor";
    std::string json = "--json";
    char* argv[] = {program.data(), verb.data(), json.data(), nullptr};
    char* environment[] = {nullptr};
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    ASSERT_EQ(::posix_spawn(&pid, argv[0], &files, nullptr, argv, environment), 0);
    ::posix_spawn_file_actions_destroy(&files);
    ::usleep(pause);
    ::kill(pid, SIGTERM);
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
  expect_nothing_left(before);
}

}  // namespace
}  // namespace cordon::doctor_test
