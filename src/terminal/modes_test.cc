// SPDX-License-Identifier: Apache-2.0
#include "terminal/modes.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "terminal/corpus_test_support.h"
#include "terminal/escape_filter.h"

namespace cordon::terminal {
namespace {

std::string restored(std::string_view said) {
  EscapeFilter filter;
  std::string out;
  filter.feed(said, out);
  return filter.restore_sequence();
}

TEST(Modes, AreLeftAloneByTextAndByWhatWasUndone) {
  EXPECT_EQ(restored("plain \x1b[2Jtext\x1b[5;5H\n"), "");
  EXPECT_EQ(restored("\x1b[?1049h\x1b[?25l\x1b[1mx\x1b[0m\x1b[?25h\x1b[?1049l"), "");
  EXPECT_EQ(restored("\x1b[?25h\x1b[?7h\x1b[?1l"), "") << "already so";
}

TEST(Modes, EachPrivateModeIsPutBackToItsInitialValue) {
  for (const auto& mode : kPrivateModes) {
    const char away = mode.initially_on ? 'l' : 'h';
    const char back = mode.initially_on ? 'h' : 'l';
    const std::string end = fmt::format("\x1b[?{}{}", mode.number, back);
    EXPECT_EQ(restored(fmt::format("\x1b[?{}{}", mode.number, away)), end) << mode.what;
    EXPECT_EQ(restored(fmt::format("\x1b[?{}{}{}", mode.number, away, end)), "") << mode.what;
  }
}

TEST(Modes, EveryOtherStateIsPutBack) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"\x1b[4h", "\x1b[4l"},
      {"\x1b=", "\x1b>"},
      {"\x1b[>4;2m", "\x1b[>4m"},
      {"\x1b[>4n", "\x1b[>4m"},
      {"\x1b]4;1;red\a", "\x1b]104\x1b\\"},
      {"\x1b]4;1;red;2;?\a", "\x1b]104\x1b\\"},
      {"\x1b]4;1;?\a", ""},
      {"\x1b]10;red\a", "\x1b]110\x1b\\"},
      {"\x1b]11;red\a", "\x1b]111\x1b\\"},
      {"\x1b]11;?\a", ""},
      {"\x1b]12;red\a", "\x1b]112\x1b\\"},
      {"\x1b]12;red\a\x1b]112\a", ""},
      {"\x1b[3g", "\x1b[?5W"},
      {"\x1b[2;9r", "\x1b\x37\x1b[r\x1b\x38"},
      {"\x1b[2;9r\x1b[r", ""},
      {"\x1b(0", "\x1b(B\x1b)B\x1b*B\x1b+B"},
      {"\x0e", "\x0f"},
      {"\x0e\x0f", ""},
      {"\x1b[7m", "\x1b[m"},
      {"\x1b[4 q", "\x1b[0 q"},
      {"\x1b[>1u", "\x1b[<1u"},
      {"\x1b[>1u\x1b[>3u", "\x1b[<2u"},
      {"\x1b[>1u\x1b[>3u\x1b[<2u", ""},
      {"\x1b[=3u", "\x1b[=0u"},
      {"\x1b[=3u\x1b[=0u", ""},
      // A refused sequence changes nothing, so there is nothing to put back.
      {"\x1b[?1001h\x1b]0;t\a\x1b[2h", ""},
      {"\x1b[?1049h\x1b[7m\x1b"
       "c",
       ""},
  };
  for (const auto& [said, end] : kCases)
    EXPECT_EQ(made_visible(restored(said)), made_visible(end)) << made_visible(said);
}

TEST(Modes, EachScreenGetsItsOwnKeyboardBack) {
  EXPECT_EQ(restored("\x1b[>1u\x1b[?1049h\x1b[>2u\x1b[>3u"), "\x1b[<2u\x1b[?1049l\x1b[<1u");
}

TEST(Modes, OfAllTheCorpusAreRestoredByWhatTheFilterItselfLetsThrough) {
  for (const auto& specimen : corpus()) {
    EscapeFilter filter;
    std::string out;
    filter.feed(specimen.input, out);
    out.clear();
    const std::string end = filter.restore_sequence();
    EscapeFilter{}.feed(end, out);
    EXPECT_EQ(out, end) << specimen.line;
    EXPECT_LT(end.size(), 64U) << specimen.line;
  }
}

}  // namespace
}  // namespace cordon::terminal
