// SPDX-License-Identifier: Apache-2.0
#include "egress/reports.h"

#include <gtest/gtest.h>

namespace cordon::egress {
namespace {

class Node : public ::testing::Test {
 protected:
  std::vector<frame::NetRefused> refused_;
  std::vector<frame::NetUsed> used_;
  int messages_ = 0;  // of uses
  int soon_ = 0;
  bool listens_ = true;
  Reports reports_{"k7f3",
                   [this](const frame::EgressToNode& message) {
                     if (!listens_) return false;
                     if (const auto* r = std::get_if<frame::NetRefused>(&message)) {
                       refused_.push_back(*r);
                     } else {
                       ++messages_;
                       const auto& uses = std::get<frame::NetUses>(message).uses;
                       used_.insert(used_.end(), uses.begin(), uses.end());
                     }
                     return true;
                   },
                   [this] { ++soon_; }};
};

TEST_F(Node, HearsEachRefusalOnceAndThenHowOften) {
  for (int i = 0; i < 5; ++i) reports_.refused({.code = "C", .tried = "connect a:443"});
  reports_.refused({.code = "C", .tried = "connect b:443"});
  ASSERT_EQ(refused_.size(), 2U);
  EXPECT_EQ(refused_[0].id, "k7f3");
  EXPECT_EQ(refused_[0].count, 1U);
  reports_.flush();
  ASSERT_EQ(refused_.size(), 3U);
  EXPECT_EQ(refused_[2].tried, "connect a:443");
  EXPECT_EQ(refused_[2].count, 4U);
  reports_.flush();
  EXPECT_EQ(refused_.size(), 3U);
}

TEST_F(Node, IsNotFloodedByWhoeverIsInside) {
  for (int i = 0; i < 10'000; ++i) {
    reports_.refused({.code = "C", .tried = "connect h" + std::to_string(i) + ":443"});
  }
  reports_.flush();
  EXPECT_LE(refused_.size(), Reports::kMost + 2);
  std::uint64_t all = 0;
  for (const auto& refusal : refused_) all += refusal.count;
  EXPECT_EQ(all, 10'000U);
}

TEST_F(Node, IsToldLaterWhatItDidNotHear) {
  listens_ = false;
  reports_.refused({.code = "C", .tried = "connect a:443"});
  reports_.used({.host = "a.example"});
  EXPECT_EQ(soon_, 1);
  listens_ = true;
  reports_.flush();
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0].tried, "connect a:443");
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_EQ(used_[0].host, "a.example");
}

TEST_F(Node, IsToldHowManyItNeverHeard) {
  listens_ = false;
  for (std::size_t i = 0; i <= Reports::kMostWaiting; ++i) reports_.used({.host = "a.example"});
  reports_.used({.host = "b.example"});
  listens_ = true;
  reports_.flush();
  ASSERT_EQ(used_.size(), 1U);
  EXPECT_EQ(used_[0].host, "b.example");
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0].code, "CORDON-NET-LOST");
  EXPECT_EQ(refused_[0].count, Reports::kMostWaiting + 1);
}

TEST_F(Node, HearsABeginningAtOnceAndEndsTogether) {
  reports_.used({.host = "a.example"});
  EXPECT_EQ(used_.size(), 1U);
  EXPECT_EQ(soon_, 0);
  reports_.used({.host = "a.example", .ended = true});
  reports_.used({.host = "b.example", .ended = true});
  EXPECT_EQ(used_.size(), 1U);
  EXPECT_EQ(soon_, 1);
  reports_.tell_uses();
  ASSERT_EQ(used_.size(), 3U);
  EXPECT_EQ(used_[2].host, "b.example");
  EXPECT_EQ(messages_, 2);
  // What waits goes along with the next beginning, in its order.
  reports_.used({.host = "c.example", .ended = true});
  reports_.used({.host = "d.example"});
  ASSERT_EQ(used_.size(), 5U);
  EXPECT_EQ(used_[3].host, "c.example");
  EXPECT_EQ(messages_, 3);
}

TEST_F(Node, HearsWhatHappenedBeforeARefusalBeforeIt) {
  reports_.used({.host = "a.example", .ended = true});
  reports_.refused({.code = "C", .tried = "connect b:443"});
  EXPECT_EQ(used_.size(), 1U);
}

TEST_F(Node, HearsEndsThatAreManyBeforeTheirTime) {
  for (std::size_t i = 0; i < frame::kMostUsesInMessage; ++i)
    reports_.used(
        {.host = std::string(10'000, 'a'), .path = std::string(10'000, 'b'), .ended = true});
  EXPECT_EQ(used_.size(), frame::kMostUsesInMessage);
  EXPECT_LT(frame::encode(frame::EgressToNode{frame::NetUses{used_}}).size(),
            frame::kLongestEgressMessage);
}

}  // namespace
}  // namespace cordon::egress
