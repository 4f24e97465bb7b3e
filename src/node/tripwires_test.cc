// SPDX-License-Identifier: Apache-2.0
#include "node/tripwires.h"

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Ticks kBegin{seconds{1000}};

frame::Response wire(std::string when, std::uint64_t more_than, std::uint64_t within = 10) {
  return {.when = std::move(when),
          .more_than = more_than,
          .within_seconds = within,
          .then = "kill",
          .rule = "own.toml:3"};
}

TEST(Tripwires, AreDueOnceAndOnlyPastTheirNumber) {
  Tripwires wires{{wire("denials", 3)}};
  EXPECT_TRUE(wires.counts(Counted::denials));
  EXPECT_FALSE(wires.counts(Counted::processes));
  EXPECT_TRUE(wires.add(Counted::denials, 3, kBegin).empty());
  EXPECT_TRUE(wires.add(Counted::processes, 100, kBegin).empty());
  const auto due = wires.add(Counted::denials, 1, kBegin + seconds{1});
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].reached, 4U);
  EXPECT_EQ(due[0].response.rule, "own.toml:3");
  EXPECT_TRUE(wires.add(Counted::denials, 100, kBegin + seconds{1}).empty());
}

TEST(Tripwires, ForgetWhatIsOlderThanTheirTime) {
  Tripwires wires{{wire("denials", 3)}};
  EXPECT_TRUE(wires.add(Counted::denials, 3, kBegin).empty());
  EXPECT_TRUE(wires.add(Counted::denials, 3, kBegin + milliseconds{10'200}).empty());
  EXPECT_FALSE(wires.add(Counted::denials, 1, kBegin + seconds{11}).empty());
}

TEST(Tripwires, CountAHostOnceAndASumFromWhereItBegins) {
  Tripwires wires{{wire("new_hosts", 1), wire("bytes_out", 1000)}};
  EXPECT_TRUE(wires.meet("a", kBegin).empty());
  EXPECT_TRUE(wires.meet("a", kBegin).empty());
  EXPECT_EQ(wires.meet("b", kBegin).size(), 1U);
  EXPECT_TRUE(wires.add_total(Counted::bytes_out, 5000, kBegin).empty());
  EXPECT_TRUE(wires.add_total(Counted::bytes_out, 6000, kBegin).empty());
  EXPECT_EQ(wires.add_total(Counted::bytes_out, 6001, kBegin).size(), 1U);
}

TEST(Tripwires, ThatWereTakenAreNotSetAgain) {
  frame::Response taken = wire("denials", 0);
  taken.is_taken = true;
  Tripwires wires{{taken}};
  EXPECT_TRUE(wires.add(Counted::denials, 5, kBegin).empty());
}

TEST(Tripwires, OfNoneAreDueAtTheFirst) {
  Tripwires wires{{wire("protected_writes", 0), wire("protected_writes", 1)}};
  EXPECT_EQ(wires.add(Counted::protected_writes, 1, kBegin).size(), 1U);
  EXPECT_EQ(wires.add(Counted::protected_writes, 1, kBegin).size(), 1U);
}

}  // namespace
}  // namespace cordon::node
