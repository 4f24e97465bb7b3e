// SPDX-License-Identifier: Apache-2.0
#include "terminal/escape_filter.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "terminal/corpus_test_support.h"
#include "terminal/relay_rules.h"

namespace cordon::terminal {
namespace {

std::string relayed(const std::vector<std::string_view>& chunks) {
  EscapeFilter filter;
  std::string out;
  for (const auto chunk : chunks) filter.feed(chunk, out);
  return out;
}

TEST(EscapeFilter, RelaysOfEachSpecimenWhatTheCorpusSays) {
  const auto specimens = corpus();
  ASSERT_GE(specimens.size(), 200U);
  for (const auto& specimen : specimens) {
    // The byte after it shows that the terminal is not left inside a sequence.
    EXPECT_EQ(made_visible(relayed({specimen.input + "."})), made_visible(specimen.relayed + "."))
        << specimen.line;
  }
}

TEST(EscapeFilter, RelaysTheSameWhereverTheStreamIsCut) {
  std::string all;
  for (const auto& specimen : corpus()) {
    const std::string whole = relayed({specimen.input});
    for (const auto& cut : cut_everywhere(specimen.input, relayed)) EXPECT_EQ(cut, whole);
    all += specimen.input;
  }
  std::vector<std::string_view> bytes;
  bytes.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) bytes.push_back(std::string_view{all}.substr(i, 1));
  EXPECT_EQ(relayed(bytes), relayed({all}));
}

TEST(EscapeFilter, RelaysItsOwnOutputUnchanged) {
  for (const auto& specimen : corpus()) {
    const std::string once = relayed({specimen.input});
    EXPECT_EQ(relayed({once}), once) << specimen.line;
  }
}

TEST(EscapeFilter, HoldsABoundedPartOfAnEndlessString) {
  EscapeFilter filter;
  std::string out;
  filter.feed("\x1b]8;;https://", out);
  const std::string chunk(65536, 'a');
  for (int i = 0; i < 64; ++i) filter.feed(chunk, out);
  filter.feed("\a.", out);
  EXPECT_EQ(out, ".");
  out.clear();
  filter.feed("\x1b[" + std::string(65536, '1') + "m.", out);
  EXPECT_EQ(out, ".");
}

TEST(EscapeFilter, TellsWhetherAnAnswerMayStillCome) {
  EscapeFilter filter;
  std::string out;
  filter.feed("text\x1b[31m\x1b]8;;http://a?b\a", out);
  EXPECT_FALSE(filter.asked());
  filter.feed("\x1b[6n", out);
  EXPECT_TRUE(filter.asked());
  EXPECT_FALSE(filter.asked_status());
  filter.feed("\x1b[5n", out);
  EXPECT_TRUE(filter.asked_status());
}

TEST(EscapeFilter, CountsWhatItRefuses) {
  EscapeFilter filter;
  std::string out;
  filter.feed("a\x1b]0;t\a\x1b]52;c;eA==\ab", out);
  EXPECT_EQ(filter.refused(), 2U);
}

TEST(RelayRules, GiveAReasonForEveryRefusal) {
  for (const auto& specimen : corpus()) {
    SequenceParser parser;
    for (const char byte : specimen.input) {
      SequenceParser::Step step;
      do {
        step = parser.push(static_cast<unsigned char>(byte));
        if (step.sequence == nullptr) continue;
        const Ruling ruling = judge(*step.sequence);
        EXPECT_NE(ruling.passes, !ruling.reason.empty()) << specimen.line;
      } while (step.again);
    }
  }
}

}  // namespace
}  // namespace cordon::terminal
