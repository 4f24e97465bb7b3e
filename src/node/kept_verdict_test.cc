// SPDX-License-Identifier: Apache-2.0
#include "node/kept_verdict.h"

#include <gtest/gtest.h>

namespace cordon::node {
namespace {

const Verdict kSome{.ending = Ending::memory,
                    .status = 137,
                    .limit = 1 << 20,
                    .peak = 1 << 21,
                    .culprit = "python3 pid 7",
                    .explanation = "a \"sentence\"\n"};

TEST(KeptVerdict, ComesBackAsItWas) {
  for (const Verdict& verdict : {kSome, Verdict{}, Verdict{.ending = Ending::exit, .status = -1}}) {
    const auto back = read_verdict(kept_text(verdict));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, verdict);
  }
}

TEST(KeptVerdict, ThatIsDamagedIsRefused) {
  const std::string text = kept_text(kSome);
  EXPECT_FALSE(read_verdict(""));
  EXPECT_FALSE(read_verdict("stopped: memory"));
  EXPECT_FALSE(read_verdict(text + "AAAA"));
  for (std::size_t length = 0; length < text.size(); length += 4) {
    EXPECT_FALSE(read_verdict(text.substr(0, length))) << length;
  }
}

}  // namespace
}  // namespace cordon::node
