// SPDX-License-Identifier: Apache-2.0
#include "review/printable.h"

#include <gtest/gtest.h>

namespace cordon::review {
namespace {

TEST(Printable, KeepsOrdinaryText) {
  EXPECT_EQ(printable("src/cart.ts"), "src/cart.ts");
  EXPECT_EQ(printable("grüße/日本/🙂"), "grüße/日本/🙂");
}

// C196: whatever a name holds, it is one line of plain text.
TEST(Printable, EscapesWhatSteersATerminalOrHidesText) {
  EXPECT_EQ(printable("a\nb"), "a\\nb");
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable("\x7f\r\t"), "\\x7f\\x0d\\t");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "a C1 control";
  EXPECT_EQ(printable("a\xe2\x80\xaetxt.exe"), "a\\xe2\\x80\\xaetxt.exe")
      << "right-to-left override";
  EXPECT_EQ(printable("a\xe2\x80\x8b"), "a\\xe2\\x80\\x8b") << "zero width space";
  EXPECT_EQ(printable(std::string_view{"a\0b", 3}), "a\\x00b");
}

TEST(Printable, EscapesWhatIsNotUtf8) {
  for (const std::string_view bad :
       {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_TRUE(printable(bad).starts_with("\\x"));
  }
}

TEST(Printable, ANameHasOneSpelling) {
  EXPECT_NE(printable("a\\nb"), printable("a\nb"));
  EXPECT_EQ(printable("a\\nb\t", Spelling::line), "a\\nb\t");
}

}  // namespace
}  // namespace cordon::review
