// SPDX-License-Identifier: Apache-2.0
#include "audit/file_log.h"

#include <gtest/gtest.h>

#include "audit/log_rig_test.h"
#include "os/test_support.h"

namespace cordon::audit {
namespace {

SandboxId some_id() { return *SandboxId::parse("k7f3"); }
const Subject kSomebody{.tenant = "a", .sandbox = "k7f3"};

TEST(AuditLine, IsARecordWithoutItsPlace) {
  EXPECT_EQ(to_line(kSomebody, PolicyAccepted{"d"}, kTime),
            R"({"time_ms":1700000000123,"tenant":"a","sandbox":"k7f3","event":"policy_accepted",)"
            R"("digest":"d"})");
}

TEST(FileLog, AppendsToWhatIsThere) {
  const os::TempDir dir;
  const ManualClock clock{kTime};
  for (int round = 0; round < 2; ++round) {
    auto log = FileLog::open(opened(dir.path()), "audit.log", clock);
    ASSERT_TRUE(log) << log.error().text();
    ASSERT_TRUE(log->append(some_id(), PolicyAccepted{"d"}));
  }
  const std::string line =
      to_line({.tenant = {}, .sandbox = "k7f3"}, PolicyAccepted{"d"}, kTime) + "\n";
  EXPECT_EQ(text_of(dir.path() / "audit.log"), line + line);
}

TEST(FileLog, FollowsNoLink) {
  const os::TempDir dir;
  const ManualClock clock{kTime};
  std::filesystem::create_symlink("elsewhere", dir.path() / "audit.log");
  EXPECT_FALSE(FileLog::open(opened(dir.path()), "audit.log", clock));
}

}  // namespace
}  // namespace cordon::audit
