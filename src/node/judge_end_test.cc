// SPDX-License-Identifier: Apache-2.0
#include "node/judge_end.h"

#include <csignal>

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

EndFacts ended(frame::Exited exited) {
  return {.program = "python3", .pid = 3, .exited = exited, .memory_limit = 256, .pids_limit = 64};
}

TEST(JudgeEnd, ALimitThatStoppedItCountsItsEndAsAShellDoes) {
  EndFacts facts = ended({.by_signal = true, .value = SIGKILL});
  facts.stopped = Stop{.ending = Ending::pids, .limit = 64, .peak = 64};
  EXPECT_EQ(judge_end(facts), (Verdict{.ending = Ending::pids,
                                       .status = 128 + SIGKILL,
                                       .limit = 64,
                                       .peak = 64,
                                       .culprit = "python3 pid 3"}));
}

TEST(JudgeEnd, WithoutAnInodeLeftTheLimitIsOfFilesAndNotOfBytes) {
  const EndFacts facts = ended(
      {.value = 1, .disk = {.bytes = 10, .most_bytes = 1 << 20, .inodes = 20, .most_inodes = 20}});
  const Verdict verdict = judge_end(facts);
  EXPECT_EQ(verdict.ending, Ending::inodes);
  EXPECT_EQ(to_line(verdict), "stopped: inodes: limit 20, peak 20, python3 pid 3");
}

TEST(JudgeEnd, AFullDiskWithoutALimitOfInodesIsALimitOfBytes) {
  const EndFacts facts = ended({.value = 1, .disk = {.bytes = 1 << 20, .most_bytes = 1 << 20}});
  EXPECT_EQ(judge_end(facts).ending, Ending::disk);
}

TEST(JudgeEnd, AFullDiskThatStoppedNothingIsNoVerdict) {
  const EndFacts facts = ended({.value = 0, .disk = {.bytes = 1 << 20, .most_bytes = 1 << 20}});
  EXPECT_EQ(judge_end(facts).ending, Ending::exit);
}

TEST(JudgeEnd, AnOutOfMemoryKillOfAChildOnlyIsToldApart) {
  EndFacts facts = ended({.value = 5});
  facts.use.oom_kills = 1;
  const Verdict child = judge_end(facts);
  EXPECT_EQ(child.ending, Ending::exit);
  EXPECT_EQ(child.explanation, "1 of its processes was ended by the memory limit");
  facts.exited = frame::Exited{.by_signal = true, .value = SIGKILL};
  EXPECT_EQ(judge_end(facts).ending, Ending::memory);
  facts.exited.reset();
  facts.largest = "hog pid 7";
  EXPECT_EQ(judge_end(facts).culprit, "hog pid 7");
}

}  // namespace
}  // namespace cordon::node
