// SPDX-License-Identifier: Apache-2.0
#include "fleet/unit_book.h"

#include <algorithm>

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
  const auto first = book.take(*account_of_ten(book), 0, 4, kNow);
  ASSERT_EQ(first.size(), 4U);
  book.begin(5);
  const UnitBook::Shared account = book.account("acme");
  EXPECT_EQ(account->units.outstanding(), 4U) << "gateways have them";
  for (const std::uint64_t number : book.take(*account, 0, 9, kNow)) {
    EXPECT_EQ(std::ranges::count(first, number), 0) << "no number means two units";
  }
  EXPECT_EQ(account->units.outstanding(), kTotal);
}

TEST(UnitBook, OfAnIndexOfAnotherNumberNothingHolds) {
  UnitBook book{1};
  book.begin(5);
  ASSERT_EQ(book.take(*account_of_ten(book), 0, 4, kNow).size(), 4U);
  book.begin(6);
  EXPECT_TRUE(book.accounts().empty());
  const auto taken = book.take(*account_of_ten(book), 0, 1, kNow);
  ASSERT_EQ(taken.size(), 1U);
  book.settle("acme", {.index = 5, .number = taken.front(), .before = {}});
  EXPECT_EQ(book.account("acme")->units.outstanding(), 1U) << "what another has named";
  book.settle("acme", {.index = 6, .number = taken.front(), .before = {}});
  EXPECT_EQ(book.account("acme")->units.outstanding(), 0U);
}

TEST(UnitBook, NobodySettlesWhatWentToOthers) {
  UnitBook book{1};
  book.begin(5);
  const auto taken = book.take(*account_of_ten(book), 0, 8, kNow);
  ASSERT_EQ(taken.size(), 8U);
  // Who has seen one of them guesses: those beside it, and those that come first.
  for (std::uint64_t number = 0; number < 1000; ++number) {
    book.settle("acme", {.index = 5, .number = number, .before = {}});
    book.settle("acme", {.index = 5, .number = taken.front() + number + 1, .before = {}});
  }
  EXPECT_EQ(book.account("acme")->units.outstanding(), 8U);
  for (const std::uint64_t number : taken) {
    book.settle("acme", {.index = 5, .number = number, .before = {}});
  }
  EXPECT_EQ(book.account("acme")->units.outstanding(), 0U) << "the counter-arm";
}

TEST(UnitNames, AreOneToOneAndOfAnotherKeyOthers) {
  const UnitNames names{UnitNames::new_key()};
  const UnitNames others{UnitNames::new_key()};
  for (const std::uint64_t number : {0ULL, 1ULL, 2ULL, 1ULL << 32U, ~0ULL}) {
    EXPECT_EQ(names.number_of(names.name_of(number)), number);
    EXPECT_NE(names.name_of(number), others.name_of(number));
    EXPECT_NE(names.name_of(number) + 1, names.name_of(number + 1));
  }
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
