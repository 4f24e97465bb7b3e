// SPDX-License-Identifier: Apache-2.0
// What is kept of each tenant's events, and how its loss shows.
#include "node/events.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace cordon::node {
namespace {

class EventsOfTenants : public testing::Test {
 protected:
  std::vector<std::string> all(const std::string& tenant) {
    std::vector<std::string> found;
    const auto ring = events_.ring(tenant);
    for (const Event* event = ring->behind(0); event != nullptr;
         event = ring->behind(event->number)) {
      found.push_back(event->sandbox);
    }
    return found;
  }
  asio::io_context loop_{1};
  SystemClock clock_;
  Events events_{loop_.get_executor(), clock_};
};

TEST_F(EventsOfTenants, AreTheirOwnAndAnOperatorsTogether) {
  events_.tell("a", "1", event::Created{});
  events_.tell("b", "2", event::Created{});
  events_.tell("a", "3", event::Created{});
  EXPECT_EQ(all("a"), (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(all("b"), (std::vector<std::string>{"2"}));
  EXPECT_EQ(all(""), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(events_.ring("a")->behind(1)->number, 2U) << "another tenant's leave no gap";
}

TEST_F(EventsOfTenants, AreBoundedAndTheGapShows) {
  for (std::size_t n = 0; n < EventRing::kMost + 5; ++n) {
    events_.tell("a", std::to_string(n), event::Created{});
  }
  const auto ring = events_.ring("a");
  EXPECT_EQ(ring->behind(0)->number, 6U);
  EXPECT_EQ(ring->behind(6)->number, 7U);
  EXPECT_EQ(ring->behind(EventRing::kMost + 5), nullptr);
  EXPECT_EQ(all("a").size(), EventRing::kMost);
}

TEST_F(EventsOfTenants, HaveCursorsOfTheirRing) {
  events_.tell("a", "1", event::Created{});
  events_.tell("b", "1", event::Created{});
  const auto ring = events_.ring("a");
  EXPECT_EQ(ring->number_of(ring->cursor(1)), 1U);
  EXPECT_EQ(ring->number_of(ring->cursor(0)), 0U);
  EXPECT_EQ(ring->number_of(ring->cursor(2)), std::nullopt) << "not told yet";
  EXPECT_EQ(ring->number_of(events_.ring("b")->cursor(1)), std::nullopt);
  for (const char* wrong : {"", "-", "1", "-1", "x-1"}) {
    EXPECT_EQ(ring->number_of(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(ring->number_of(ring->cursor(1) + "x"), std::nullopt);
}

TEST_F(EventsOfTenants, ForgetTheQuietestFirstAndNoneThatIsRead) {
  events_.tell("first", "1", event::Created{});
  const auto read = events_.ring("first");
  events_.tell("second", "1", event::Created{});
  for (std::size_t n = 0; n < Events::kMostRings; ++n) {
    events_.tell("t" + std::to_string(n), "x", event::Created{});
  }
  EXPECT_EQ(all("first").size(), 1U);
  EXPECT_EQ(all("second").size(), 0U);
  EXPECT_EQ(all("t" + std::to_string(Events::kMostRings - 1)).size(), 1U);
  EXPECT_FALSE(all("").empty());
}

}  // namespace
}  // namespace cordon::node
