// SPDX-License-Identifier: Apache-2.0
#include "fleet/unit_book.h"

#include <gtest/gtest.h>

namespace cordon::fleet {
namespace {

constexpr Ticks kNow{std::chrono::seconds{1000}};
constexpr std::uint64_t kTotal = 10;

UnitBook::Shared account_of_ten(UnitBook& book) {
  UnitBook::Shared account = book.account("acme");
  QuotaLedger ledger{.total = kTotal, .homes = {1}, .given = {}, .lent = {}, .wanting = {}};
  while (ledger.take(1) > 0) continue;
  account->units.quota().heard(ledger, 1, kNow);
  return account;
}

TEST(UnitBook, AnIndexThatActsAgainByItsNumberGoesOnWhereItWas) {
  UnitBook book{1};
  book.begin(5);
  const auto chunk = book.take(*account_of_ten(book), 0, 4, kNow);
  ASSERT_EQ(chunk.count, 4U);
  book.begin(5);
  const UnitBook::Shared account = book.account("acme");
  EXPECT_EQ(account->units.outstanding(), 4U) << "gateways have them";
  EXPECT_EQ(book.take(*account, 0, 9, kNow).first, 5U) << "no number means two units";
  EXPECT_EQ(account->units.outstanding(), kTotal);
}

TEST(UnitBook, OfAnIndexOfAnotherNumberNothingHolds) {
  UnitBook book{1};
  book.begin(5);
  ASSERT_EQ(book.take(*account_of_ten(book), 0, 4, kNow).count, 4U);
  book.begin(6);
  EXPECT_TRUE(book.accounts().empty());
  ASSERT_EQ(book.take(*account_of_ten(book), 0, 1, kNow).count, 1U);
  book.settle("acme", {.index = 5, .number = 1, .before = {}});
  EXPECT_EQ(book.account("acme")->units.outstanding(), 1U) << "what another has named";
  book.settle("acme", {.index = 6, .number = 1, .before = {}});
  EXPECT_EQ(book.account("acme")->units.outstanding(), 0U);
}

TEST(UnitBook, ARoundThatIsCutOffLeavesNobodyBusy) {
  UnitBook book{1};
  const UnitBook::Shared account = book.account("acme");
  {
    const UnitBook::Busy busy{account};
    EXPECT_TRUE(account->is_busy);
  }
  EXPECT_FALSE(account->is_busy);
}

}  // namespace
}  // namespace cordon::fleet
