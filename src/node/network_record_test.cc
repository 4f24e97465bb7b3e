// SPDX-License-Identifier: Apache-2.0
// What a run records of its network, and what it says where that cannot be written.
#include "node/network_record.h"

#include <fcntl.h>
#include <filesystem>

#include <gtest/gtest.h>

#include "audit/segment.h"
#include "os/file.h"
#include "os/test_support.h"

namespace cordon::node {
namespace {

class NetworkRecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto log = audit::Log::open(
        *os::openat(os::at_cwd(), directory_.path().c_str(), O_RDONLY | O_DIRECTORY), clock_);
    ASSERT_TRUE(log) << log.error().text();
    log_ = *std::move(log);
  }
  NetworkRecord record() {
    return {*log_, {.tenant = "acme", .sandbox = "k7f3"}, {"cordon run", "-- true"}};
  }
  // From here on it takes nothing.
  void damage() const {
    std::filesystem::resize_file(directory_.path() / audit::segment_name(0), 0);
  }

 private:
  os::TempDir directory_;
  SystemClock clock_;
  std::unique_ptr<audit::Log> log_;
};

void use(const NetworkEars& ears, std::size_t count) {
  const std::vector<frame::NetUsed> uses(count, {.host = "a.example", .port = 443});
  ears.used(uses);
}

TEST_F(NetworkRecordTest, SaysOnceThatRecordsWereLost) {
  damage();
  NetworkRecord full = record();
  const auto ears = full.ears();
  ears.refused({.code = "CORDON-NET-HOST", .tried = "connect b.example:443"});
  use(ears, 5);
  full.used(frame::GrantUsed{.grant = "g"});
  const auto denials = full.take_denials();
  ASSERT_EQ(denials.size(), 2U);
  EXPECT_EQ(denials[1].code, "CORDON-AUDIT-LOST");
  EXPECT_EQ(denials[1].count, 7U);
  EXPECT_NE(denials[1].why.find("shorter than its writers left it"), std::string::npos)
      << denials[1].why;
}

TEST_F(NetworkRecordTest, SaysNothingWhereNoneWas) {
  NetworkRecord good = record();
  const auto ears = good.ears();
  use(ears, 1000);
  EXPECT_TRUE(good.take_denials().empty());
}

TEST_F(NetworkRecordTest, AsksToBeRemindedOfWhatItCounts) {
  NetworkRecord good = record();
  int asked = 0;
  good.when_counted([&] { ++asked; });
  const auto ears = good.ears();
  for (std::size_t i = 0; i < RefusalTally::kEach; ++i) ears.refused({.code = "C", .tried = "t"});
  EXPECT_EQ(asked, 0);
  // A second may end meanwhile: then as many are written one by one again.
  for (std::size_t i = 0; i < 10 * RefusalTally::kEach; ++i)
    ears.refused({.code = "C", .tried = "t"});
  EXPECT_GT(asked, 0);
  good.tell_counted();
  EXPECT_EQ(good.take_denials().at(0).count, 11 * RefusalTally::kEach);
}

}  // namespace
}  // namespace cordon::node
