// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cerrno>
#include <memory>

#include <gtest/gtest.h>

namespace cordon {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{Errc::invalid, "odd"};
  return n / 2;
}

Result<int> quarter(int n) {
  TRY(const int once, half(n));
  TRY(const int twice, half(once));
  return twice;
}

Status require_quarter(int n) {
  TRY_DO(quarter(n));
  return {};
}

TEST(Result, TryPassesTheValueOrLeavesWithTheError) {
  ASSERT_TRUE(quarter(8));
  EXPECT_EQ(*quarter(8), 2);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().text(), "odd");
  EXPECT_TRUE(require_quarter(4));
  EXPECT_FALSE(require_quarter(2));
}

TEST(Result, CarriesValuesThatCanOnlyMove) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto pass = [&]() -> Result<std::unique_ptr<int>> {
    TRY(auto owned, make());
    return owned;
  };
  EXPECT_EQ(**pass(), 7);
}

TEST(Error, SentenceGrowsOutward) {
  const Error error = Error::from_errno("open_tree", EPERM).with("mount /src").with("run 7f3a");
  EXPECT_EQ(error.text(), "run 7f3a: mount /src: open_tree: Operation not permitted");
  EXPECT_EQ(error.code(), Errc::denied);
  EXPECT_EQ(error.cause().value(), EPERM);
}

TEST(Error, CodeSaysWhatTheCallerCanDo) {
  EXPECT_EQ(Error::from_errno("x", ENOENT).code(), Errc::not_found);
  EXPECT_EQ(Error::from_errno("x", ENOSYS).code(), Errc::unavailable);
  EXPECT_EQ(Error::from_errno("x", EMFILE).code(), Errc::exhausted);
  EXPECT_EQ(Error::from_errno("x", EINVAL).code(), Errc::invalid);
}

}  // namespace
}  // namespace cordon
