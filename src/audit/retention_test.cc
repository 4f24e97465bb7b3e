// SPDX-License-Identifier: Apache-2.0
#include "audit/retention.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "audit/log_reader.h"
#include "audit/log_rig_test.h"
#include "audit/segment.h"
#include "audit/verify.h"
#include "os/test_support.h"

namespace cordon::audit {
namespace {

namespace fs = std::filesystem;

bool any_head(const Head& /*head*/) { return true; }

// A record a second, in small segments, and a head of every tenth.
class RetentionTest : public testing::Test {
 protected:
  void SetUp() override {
    auto log = Log::open(opened(dir_.path()), clock_, {.segment_bytes = 2000});
    ASSERT_TRUE(log) << log.error().text();
    log_ = *std::move(log);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(log_->append(kSubject, PolicyAccepted{std::to_string(i)}));
      clock_.advance(std::chrono::seconds{1});
      if (i % 10 == 0) {
        const Verified now = verified();
        heads_.push_back({.log = now.log, .size = now.records, .root = now.root, .time = kTime});
      }
    }
  }
  Verified verified() {
    const auto done = verify(opened(dir_.path()), heads_, any_head);
    EXPECT_TRUE(done) << done.error().text();
    return done ? *done : Verified{};
  }
  Result<Dropped> drop(int seconds) {
    return drop_older(*log_, opened(dir_.path()), kTime + std::chrono::seconds{seconds});
  }
  std::size_t segments() const { return list_segments(opened(dir_.path()))->size(); }

  os::TempDir dir_;
  ManualClock clock_{kTime};
  std::unique_ptr<Log> log_;
  std::vector<Head> heads_;
};

TEST_F(RetentionTest, DropsWhatIsOldAndKeepsItsHashes) {
  const std::size_t before = segments();
  const auto dropped = drop(60);
  ASSERT_TRUE(dropped) << dropped.error().text();
  EXPECT_GT(dropped->records, 40U);
  EXPECT_LE(dropped->records, 60U);
  EXPECT_LT(segments(), before);
  const Verified now = verified();
  EXPECT_EQ(now.finding.value_or(Finding{}).what, "");
  EXPECT_EQ(now.dropped, dropped->records);
  EXPECT_EQ(now.heads, heads_.size());
  // Nothing else is old enough.
  EXPECT_EQ(drop(60)->records, 0U);
  // What is gone is not asked for; what is kept is.
  EXPECT_FALSE(LogReader::open(opened(dir_.path()), dropped->records - 1));
  EXPECT_TRUE(LogReader::open(opened(dir_.path()), dropped->records));
  // Later again.
  ASSERT_TRUE(drop(90));
  EXPECT_FALSE(verified().finding);
}

TEST_F(RetentionTest, NeverDropsTheLast) {
  clock_.advance(std::chrono::hours{1});
  ASSERT_TRUE(drop(100'000));
  EXPECT_GE(segments(), 1U);
  EXPECT_FALSE(verified().finding);
  EXPECT_TRUE(log_->append(kSubject, PolicyAccepted{"next"}));
}

TEST_F(RetentionTest, KeepsWhatIsNotAsItWasWritten) {
  const fs::path first = dir_.path() / segment_name(0);
  std::string bytes = text_of(first);
  bytes[bytes.find("policy_accepted")] = 'P';
  std::ofstream{first, std::ios::binary} << bytes;
  const auto dropped = drop(60);
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().code(), Errc::denied);
  EXPECT_TRUE(fs::exists(first));
}

// Who replaces a segment by its hashes, and is not the log, is found.
TEST_F(RetentionTest, FindsRecordsThatWentWithoutAWord) {
  const auto others = os::TempDir{};
  fs::copy(dir_.path(), others.path(), fs::copy_options::recursive);
  ASSERT_TRUE(drop(20));
  for (const auto& entry : fs::directory_iterator{dir_.path()}) {
    if (entry.path().extension() != ".leaves") continue;
    const std::string stem = entry.path().stem();
    fs::copy(entry.path(), others.path() / entry.path().filename());
    fs::remove(others.path() / (stem + ".log"));
  }
  const auto done = verify(opened(others.path()), heads_, any_head);
  ASSERT_TRUE(done) << done.error().text();
  const std::string what = done->finding.value_or(Finding{}).what;
  EXPECT_NE(what.find("does not say"), std::string::npos) << what;
}

TEST_F(RetentionTest, FindsAHashThatIsAnother) {
  ASSERT_TRUE(drop(20));
  const fs::path first = dir_.path() / leaves_name(0);
  std::string bytes = text_of(first);
  ASSERT_FALSE(bytes.empty());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
  std::ofstream{first, std::ios::binary} << bytes;
  EXPECT_TRUE(verified().finding);
}

}  // namespace
}  // namespace cordon::audit
