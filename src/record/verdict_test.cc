// SPDX-License-Identifier: Apache-2.0
#include "record/verdict.h"

#include <gtest/gtest.h>

#include "record/quantity.h"

namespace cordon {
namespace {

TEST(Verdict, NamesLimitPeakAndCulpritInOneLine) {
  const Verdict verdict{.ending = Ending::memory,
                        .limit = 256U << 20U,
                        .peak = 256U << 20U,
                        .culprit = "python3 pid 7"};
  EXPECT_EQ(to_line(verdict), "stopped: memory: limit 256 MiB, peak 256 MiB, python3 pid 7");
}

TEST(Verdict, TellsAnExitFromASignalAndFromOurFault) {
  EXPECT_EQ(to_line({.ending = Ending::exit, .status = 3}), "exited: 3");
  EXPECT_EQ(to_line({.ending = Ending::signal, .status = 9}), "ended by signal 9");
  EXPECT_EQ(to_line({.explanation = "launcher died"}), "stopped: infrastructure: launcher died");
}

TEST(Quantity, IsExactWhereItDivides) {
  EXPECT_EQ(to_size_text(0), "0 bytes");
  EXPECT_EQ(to_size_text(1023), "1023 bytes");
  EXPECT_EQ(to_size_text(1024), "1 KiB");
  EXPECT_EQ(to_size_text(1536), "1.5 KiB");
  EXPECT_EQ(to_size_text(4ULL << 30U), "4 GiB");
}

}  // namespace
}  // namespace cordon
