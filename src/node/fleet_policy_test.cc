// SPDX-License-Identifier: Apache-2.0
#include "node/fleet_policy.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "async/block_on.h"
#include "base/clock.h"
#include "journal/journal_file_test.h"
#include "os/file.h"
#include "token/key.h"

namespace cordon::node {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFew = "[tenants.acme]\nsandboxes = 1\n";
constexpr const char* kMore = "[tenants.acme]\nsandboxes = 2\n";

class FleetPolicyOf : public journal::JournalFile {
 protected:
  void SetUp() override {
    JournalFile::SetUp();
    settings_.quota.sandboxes = 3;
    logs_ = path() + ".log";
    fs::remove_all(logs_);
    fs::create_directory(logs_);
  }
  void TearDown() override {
    fs::remove_all(logs_);
    JournalFile::TearDown();
  }

  // All that was recorded.
  std::string recorded() const {
    std::string all;
    for (const auto& entry : fs::directory_iterator{logs_}) {
      if (entry.path().extension() != ".log") continue;
      std::ifstream in{entry.path()};
      all.append(std::istreambuf_iterator<char>{in}, {});
    }
    return all;
  }

  Settings settings_;
  fs::path logs_;
};

token::Secret key_of(int fill) {
  Digest bytes{};
  bytes.fill(static_cast<std::byte>(fill));
  return token::Secret{bytes};
}

// A node from its start to its end.
struct Started {
  Started(const Settings& settings, journal::Ledger ledger, const fs::path& logs, int key = 7)
      : admission{*Admission::create(settings, {})}, quotas{settings, clock} {
    auto kept = ledger.release();
    EXPECT_TRUE(kept);
    journal_of_it = std::make_unique<journal::Journal>(std::move(ledger));
    auto directory = os::openat(os::at_cwd(), logs.c_str(), O_RDONLY | O_DIRECTORY);
    EXPECT_TRUE(directory);
    auto opened = audit::Log::open(*std::move(directory), clock);
    EXPECT_TRUE(opened);
    log = *std::move(opened);
    policy = std::make_unique<FleetPolicy>(
        FleetPolicy::Parts{
            .admission = admission, .quotas = quotas, .journal = *journal_of_it, .log = *log},
        key_of(key));
    policy->restore(*kept);
  }

  Status take(std::uint64_t number, std::string text) {
    return async::block_on(loop, policy->take(number, std::move(text)));
  }
  // How many sandboxes the tenant gets of ten.
  int got() {
    std::vector<Quotas::Share> shares;
    for (int i = 0; i < 10; ++i) {
      auto share = quotas.take("acme", {});
      if (share) shares.push_back(*std::move(share));
    }
    return static_cast<int>(shares.size());
  }

  asio::io_context loop;
  SystemClock clock;
  Admission admission;
  Quotas quotas;
  std::unique_ptr<journal::Journal> journal_of_it;
  std::unique_ptr<audit::Log> log;
  std::unique_ptr<FleetPolicy> policy;
};

TEST_F(FleetPolicyOf, ANodeHoldsFromThenOnAndOverItsDeath) {
  {
    Started node{settings_, open(), logs_};
    EXPECT_EQ(node.got(), 3);
    ASSERT_TRUE(node.take(7, kFew));
    EXPECT_EQ(node.got(), 1);
    EXPECT_NE(recorded().find(R"("event":"policy_released","number":7,"sha256":")"),
              std::string::npos);
  }
  Started node{settings_, open(), logs_};
  EXPECT_EQ(node.policy->state().number, 7U);
  EXPECT_EQ(node.got(), 1);
  ASSERT_TRUE(async::block_on(node.loop, node.policy->drop()));
  EXPECT_EQ(node.policy->state().number, 0U);
  EXPECT_EQ(node.got(), 3);
}

TEST_F(FleetPolicyOf, WhatCannotBeTakenLeavesTheOneBefore) {
  Started node{settings_, open(), logs_};
  ASSERT_TRUE(node.take(7, kFew));
  for (const char* text : {"[tenants.acme]\nsandboxes = 4\n", "[celing]\n", "", "\xff"}) {
    const Status taken = node.take(8, text);
    ASSERT_FALSE(taken) << text;
    EXPECT_EQ(taken.error().code(), Errc::invalid) << text;
    ASSERT_TRUE(node.policy->state().refused) << text;
    EXPECT_EQ(node.policy->state().refused.value_or(FleetPolicy::Refused{}).number, 8U) << text;
    EXPECT_EQ(node.policy->state().number, 7U) << text;
    EXPECT_EQ(node.got(), 1) << text;
  }
  EXPECT_EQ(recorded().find("\"number\":8"), std::string::npos);
  // What has a number keeps it; the same again is as it was; a later one is taken.
  EXPECT_EQ(node.take(7, kMore).error().code(), Errc::exists);
  EXPECT_TRUE(node.take(7, kFew));
  ASSERT_TRUE(node.take(9, kMore));
  EXPECT_EQ(node.got(), 2);
  EXPECT_FALSE(node.policy->state().refused);
}

TEST_F(FleetPolicyOf, WhatIsNotAsTheNodeKeptItIsLeftOut) {
  {
    Started node{settings_, open(), logs_};
    ASSERT_TRUE(node.take(7, kFew));
  }
  {
    journal::Ledger ledger = open();
    auto kept = ledger.release();
    ASSERT_TRUE(kept && *kept);
    journal::ReleaseRow row = (*kept).value_or(journal::ReleaseRow{});
    row.text = kMore;
    ASSERT_TRUE(ledger.keep_release(row));
  }
  {
    const Started node{settings_, open(), logs_};
    EXPECT_EQ(node.policy->state().number, 0U);
    const auto refused = node.policy->state().refused.value_or(FleetPolicy::Refused{});
    EXPECT_EQ(refused.number, 7U);
    EXPECT_NE(refused.why.find("not as this node kept it"), std::string::npos) << refused.why;
  }
  {
    Started node{settings_, open(), logs_};
    ASSERT_TRUE(node.take(7, kFew));
  }
  // Nor is what another node kept.
  const Started other{settings_, open(), logs_, 8};
  EXPECT_EQ(other.policy->state().number, 0U);
  const Started same{settings_, open(), logs_, 7};
  EXPECT_EQ(same.policy->state().number, 7U);
}

}  // namespace
}  // namespace cordon::node
