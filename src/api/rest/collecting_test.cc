// SPDX-License-Identifier: Apache-2.0
#include "api/rest/collecting.h"

#include <list>

#include <gtest/gtest.h>

namespace cordon::api {
namespace {

TEST(CollectingRoom, BoundsOneAndAll) {
  CollectingRoom room;
  std::list<CollectingRoom::Share> shares;
  for (std::size_t held = 0; held < kMostCollectedByAll; held += kMostCollected) {
    CollectingRoom::Share& share = shares.emplace_back(room);
    EXPECT_TRUE(share.take(kMostCollected));
    EXPECT_FALSE(share.take(1)) << "one has so much and no more";
  }
  CollectingRoom::Share late{room};
  EXPECT_FALSE(late.take(1)) << "all have so much and no more";
  shares.pop_front();
  EXPECT_TRUE(late.take(kMostCollected)) << "what goes makes room";
  EXPECT_FALSE(CollectingRoom::Share{room}.take(1));
}

}  // namespace
}  // namespace cordon::api
