// SPDX-License-Identifier: Apache-2.0
#include "audit/file_log.h"

#include <fcntl.h>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/test_support.h"

namespace cordon::audit {
namespace {

SandboxId some_id() { return *SandboxId::parse("k7f3"); }
const WallTime kTime{std::chrono::milliseconds{1700000000123}};

TEST(AuditLine, IsOneLineWhateverAnEventHolds) {
  const Denial hostile{
      .code = "CORDON-FS-WRITE", .tried = "write \n\"},{\"event\":\"x\x1b[2J\xff", .rule = "a:1"};
  const std::string line = to_line(some_id(), ActRefused{hostile}, kTime);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_TRUE(line.starts_with(
      R"({"time_ms":1700000000123,"sandbox":"k7f3","event":"act_refused","code":"CORDON-FS-WRITE")"))
      << line;
}

TEST(AuditLine, TellsHowASandboxEnded) {
  const Verdict verdict{
      .ending = Ending::memory, .status = 9, .limit = 5, .peak = 4, .culprit = "x"};
  EXPECT_EQ(
      to_line(some_id(), SandboxEnded{verdict}, kTime),
      R"({"time_ms":1700000000123,"sandbox":"k7f3","event":"sandbox_ended","ending":"memory",)"
      R"("status":9,"limit":5,"peak":4,"culprit":"x","explanation":""})");
}

TEST(AuditLine, TellsWhichFileWentOver) {
  const FileMoved read{.tenant = "a",
                       .request = "r1",
                       .path = "/workspace/\xff\n",
                       .bytes = 3,
                       .sha256 = "00",
                       .is_whole = true};
  EXPECT_EQ(to_line(some_id(), read, kTime),
            R"({"time_ms":1700000000123,"sandbox":"k7f3","event":"file_read","tenant":"a",)"
            R"("request":"r1","path":"/workspace/\u00ff\n","bytes":3,"sha256":"00","whole":true})");
  FileMoved part{read};
  part.key = "k";
  part.offset = 7;
  part.is_tree = part.is_written = true;
  part.is_whole = false;
  const std::string line = to_line(some_id(), part, kTime);
  EXPECT_NE(line.find(R"("event":"tree_written","tenant":"a","key":"k",)"), std::string::npos);
  EXPECT_NE(line.find(R"("offset":7,)"), std::string::npos);
  EXPECT_NE(line.find(R"("whole":false)"), std::string::npos);
}

TEST(FileLog, AppendsToWhatIsThere) {
  const os::TempDir dir;
  const ManualClock clock{kTime};
  const std::string file = (dir.path() / "audit.log").string();
  const auto opened = os::openat(os::at_cwd(), dir.path().c_str(), O_PATH | O_DIRECTORY);
  ASSERT_TRUE(opened);
  for (int round = 0; round < 2; ++round) {
    auto log = FileLog::open(*opened, "audit.log", clock);
    ASSERT_TRUE(log) << log.error().text();
    ASSERT_TRUE(log->append(some_id(), PolicyAccepted{"d"}));
  }
  std::ifstream in{file};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const std::string line = to_line(some_id(), PolicyAccepted{"d"}, kTime) + "\n";
  EXPECT_EQ(text, line + line);
}

TEST(FileLog, FollowsNoLink) {
  const os::TempDir dir;
  const ManualClock clock{kTime};
  std::filesystem::create_symlink("elsewhere", dir.path() / "audit.log");
  const auto opened = os::openat(os::at_cwd(), dir.path().c_str(), O_PATH | O_DIRECTORY);
  ASSERT_TRUE(opened);
  EXPECT_FALSE(FileLog::open(*opened, "audit.log", clock));
}

}  // namespace
}  // namespace cordon::audit
