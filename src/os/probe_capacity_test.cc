// SPDX-License-Identifier: Apache-2.0
// The arithmetic of capacity, and the texts it reads.
#include "os/probe_capacity.h"

#include <gtest/gtest.h>

#include "os/probe_sub_ids.h"

namespace cordon::os {
namespace {

TEST(Capacity, IsWhatEachLimitLeavesRoomFor) {
  const Capacity service =
      capacity_of({.fds = 20'000, .pids = 32'768, .ids = 655'360, .root = true});
  EXPECT_EQ(service.by_fds, 6581U);  // (20,000 - 256) / 3
  EXPECT_EQ(service.by_pids, 10'922U);
  EXPECT_EQ(service.by_ids, 10U);
}

TEST(Capacity, OfAnOrdinaryUserTakesOneIdEach) {
  EXPECT_EQ(capacity_of({.ids = 65'536, .root = false}).by_ids, 65'536U);
}

TEST(Capacity, IsNothingBelowTheReserve) { EXPECT_EQ(capacity_of({.fds = 100}).by_fds, 0U); }

TEST(Capacity, ClaimsNoLimitThatWasNotFound) { EXPECT_EQ(capacity_of({}), Capacity{}); }

TEST(SpareIds, AreThosePastTheFirst65536) {
  EXPECT_EQ(spare_ids("         0          0 4294967295\n"), 4'294'901'759U);
  EXPECT_EQ(spare_ids("0 100000 65536\n"), 0U);
  EXPECT_EQ(spare_ids("0 1000 1\n1 100000 131072\n"), 65'537U);
  EXPECT_EQ(spare_ids(""), 0U);
  EXPECT_EQ(spare_ids("a b c\n1 2\n"), 0U);
}

TEST(NextFreeSubId, LiesPastAllRanges) {
  EXPECT_EQ(next_free_sub_id(""), 100'000U);
  EXPECT_EQ(next_free_sub_id("a:100000:65536\nb:165536:65536\n"), 231'072U);
  EXPECT_EQ(next_free_sub_id("nonsense\n:\na:5:5\n"), 100'000U);
}

}  // namespace
}  // namespace cordon::os
