// SPDX-License-Identifier: Apache-2.0
#include "node/judge_end.h"

#include <csignal>

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

EndFacts some_run() {
  return {.program = "python3", .pid = 7, .memory_limit = 256U << 20U, .pids_limit = 64};
}

frame::Exited exited(std::uint32_t code) { return {.process = 1, .value = code}; }
frame::Exited killed_by(std::uint32_t signal) {
  return {.process = 1, .by_signal = true, .value = signal};
}

TEST(JudgeEnd, TellsAnExitWithItsCode) {
  EndFacts facts = some_run();
  facts.exited = exited(3);
  EXPECT_EQ(to_line(judge_end(facts)), "exited: 3");
}

TEST(JudgeEnd, TellsASignalThatWasNotOurs) {
  EndFacts facts = some_run();
  facts.exited = killed_by(SIGSEGV);
  EXPECT_EQ(judge_end(facts).ending, Ending::signal);
  EXPECT_EQ(judge_end(facts).status, SIGSEGV);
}

TEST(JudgeEnd, TakesASigkillForTheMemoryLimitOnlyWhereTheGroupCountedAKill) {
  EndFacts facts = some_run();
  facts.exited = killed_by(SIGKILL);
  EXPECT_EQ(judge_end(facts).ending, Ending::signal);
  facts.use = {.memory_peak = 256U << 20U, .oom_kills = 1};
  EXPECT_EQ(to_line(judge_end(facts)),
            "stopped: memory: limit 256 MiB, peak 256 MiB, python3 pid 7");
}

TEST(JudgeEnd, TellsTheOomKillOfAChildApart) {
  EndFacts facts = some_run();
  facts.exited = exited(0);
  facts.use = {.oom_kills = 1};
  EXPECT_EQ(judge_end(facts).ending, Ending::exit);
  EXPECT_EQ(judge_end(facts).explanation, "1 of its processes was ended by the memory limit");
}

TEST(JudgeEnd, TellsTheDeathOfPid1ByMemory) {
  EndFacts facts = some_run();
  facts.use = {.oom_kills = 1};
  facts.largest = "cc1plus pid 12";
  const Verdict verdict = judge_end(facts);
  EXPECT_EQ(verdict.ending, Ending::memory);
  EXPECT_EQ(verdict.culprit, "cc1plus pid 12");
}

TEST(JudgeEnd, TakesTheWordOfAMachinesKernelForItsMemory) {
  EndFacts facts{.memory_limit = 768U << 20U, .machine_memory = 256U << 20U};
  facts.use = {.memory_peak = 400U << 20U, .oom_kills = 1};
  facts.exited = frame::Exited{.by_signal = true, .value = SIGKILL, .oom_kills = 1};
  EXPECT_EQ(judge_end(facts).ending, Ending::memory);
  EXPECT_EQ(judge_end(facts).limit, 256U << 20U);
  EXPECT_EQ(judge_end(facts).peak, 256U << 20U);
  facts.exited->oom_kills = 0;
  facts.use.oom_kills = 0;
  EXPECT_EQ(judge_end(facts).ending, Ending::signal);
  facts.exited.reset();
  EXPECT_EQ(judge_end(facts).ending, Ending::infrastructure);
  facts.machine_is_full = true;
  EXPECT_EQ(judge_end(facts).ending, Ending::memory);
  EXPECT_EQ(judge_end(facts).limit, 256U << 20U);
}

TEST(JudgeEnd, BlamesTheDiskOnlyForARunThatFailedOnAFullOne) {
  EndFacts facts = some_run();
  facts.exited = exited(1);
  facts.exited->disk = {.bytes = 1000, .most_bytes = 1U << 20U, .inodes = 1, .most_inodes = 100};
  EXPECT_EQ(judge_end(facts).ending, Ending::exit);
  facts.exited->disk.bytes = 1U << 20U;
  EXPECT_EQ(judge_end(facts).ending, Ending::disk);
  EXPECT_EQ(judge_end(facts).limit, 1U << 20U);
  facts.exited->value = 0;
  EXPECT_EQ(judge_end(facts).ending, Ending::exit);
}

TEST(JudgeEnd, TakesADiskForFullWhereTheNextWriteDidNotFit) {
  EndFacts facts = some_run();
  facts.exited = exited(1);
  facts.exited->disk = {.bytes = (64U << 20U) - 800'000, .most_bytes = 64U << 20U};
  EXPECT_EQ(judge_end(facts).ending, Ending::exit);
  facts.disk_step = 1U << 20U;
  EXPECT_EQ(judge_end(facts).ending, Ending::disk);
}

TEST(JudgeEnd, CountsFilesWhereTheyAreWhatRanOut) {
  EndFacts facts = some_run();
  facts.exited = exited(1);
  facts.exited->disk = {.bytes = 0, .most_bytes = 1U << 20U, .inodes = 100, .most_inodes = 100};
  EXPECT_EQ(to_line(judge_end(facts)), "stopped: inodes: limit 100, peak 100, python3 pid 7");
}

TEST(JudgeEnd, CountsBytesWhereFilesAreNotLimited) {
  EndFacts facts = some_run();
  facts.exited = exited(1);
  facts.exited->disk = {.bytes = 1U << 20U, .most_bytes = 1U << 20U};
  EXPECT_EQ(judge_end(facts).ending, Ending::disk);
}

TEST(JudgeEnd, CountsTheEndOfWhatWeStoppedAsAShellDoes) {
  EndFacts facts = some_run();
  facts.stopped = Stop{Ending::pids, 64, 64, {}};
  EXPECT_EQ(judge_end(facts).status, 128 + SIGKILL);
  facts.exited = killed_by(SIGKILL);
  EXPECT_EQ(judge_end(facts).status, 128 + SIGKILL);
  facts.exited = exited(3);
  EXPECT_EQ(judge_end(facts).status, 3);
}

TEST(JudgeEnd, BlamesThePidsLimitOnlyForARunThatFailedAfterARefusal) {
  EndFacts facts = some_run();
  facts.exited = exited(1);
  EXPECT_EQ(judge_end(facts).ending, Ending::exit);
  facts.use = {.pids_peak = 64, .pids_refused = 5};
  EXPECT_EQ(judge_end(facts).ending, Ending::pids);
  facts.exited->value = 0;
  EXPECT_EQ(judge_end(facts).ending, Ending::exit);
}

TEST(JudgeEnd, NamesOurOwnReasonBeforeWhatTheProgramMadeOfIt) {
  EndFacts facts = some_run();
  facts.exited = killed_by(SIGKILL);
  facts.use = {.oom_kills = 1};
  facts.stopped = Stop{Ending::wall_time, 2, 2, {}};
  EXPECT_EQ(to_line(judge_end(facts)), "stopped: wall_time: limit 2 s, peak 2 s, python3 pid 7");
}

TEST(JudgeEnd, SaysThatItDoesNotKnow) {
  EndFacts facts = some_run();
  facts.failure = "the sandbox has ended";
  EXPECT_EQ(to_line(judge_end(facts)), "stopped: infrastructure: the sandbox has ended");
}

}  // namespace
}  // namespace cordon::node
