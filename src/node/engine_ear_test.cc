// SPDX-License-Identifier: Apache-2.0
#include "node/engine_ear.h"

#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "audit/segment.h"
#include "base/bytes.h"
#include "os/file.h"
#include "os/test_support.h"
#include "recorder/kernel/layout.h"

namespace cordon::node {
namespace {

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
class EngineEarTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto log = audit::Log::open(
        *os::openat(os::at_cwd(), directory_.path().c_str(), O_RDONLY | O_DIRECTORY), clock_);
    ASSERT_TRUE(log) << log.error().text();
    log_ = *std::move(log);
    lowered_.plan.setup.fences.filter = "strict";
    lowered_.enforcement.reported = {"exec", "refused"};
    auto record = SeenRecord::of(*log_, {.tenant = "acme", .sandbox = "k7f3"}, lowered_);
    ASSERT_TRUE(record);
    record_.emplace(*std::move(record));
  }
  EngineEar ear(std::uint64_t per_second) { return {lowered_, *record_, per_second}; }
  // How often the log has these words.
  std::size_t written(std::string_view words) const {
    const std::ifstream in{directory_.path() / audit::segment_name(0)};
    std::ostringstream all;
    all << in.rdbuf();
    const std::string text = all.str();
    std::size_t count = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
      ++count;
    return count;
  }

 private:
  os::TempDir directory_;
  SystemClock clock_;
  std::unique_ptr<audit::Log> log_;
  plan::Lowered lowered_;
  std::optional<SeenRecord> record_;
};

const frame::TracedAct kExec{.kind = frame::TracedKind::exec, .pid = 2, .path = "/bin/true"};
const frame::TracedAct kWrite{.kind = frame::TracedKind::open, .pid = 2, .path = "/a", .flags = 1};

TEST_F(EngineEarTest, RecordsTheClassesThatWereAskedFor) {
  ear(100).take({.acts = {kExec, kWrite, kExec}});
  EXPECT_EQ(written("program_started"), 2U);
  EXPECT_EQ(written("file_touched"), 0U);
  EXPECT_EQ(written("records_lost"), 0U);
}

TEST_F(EngineEarTest, ReadsWhatAMachinesKernelTells) {
  cordon_event event{};
  event.kind = CORDON_KIND_EXEC;
  event.lengths[CORDON_TEXT_USED] = 10;
  const std::string exec =
      std::string{as_text(std::as_bytes(std::span{&event, 1}))} + std::string{"/bin/true\0", 10};
  ear(100).take({.events = {exec, "no event", exec}});
  EXPECT_EQ(written("program_started"), 2U);
  EXPECT_EQ(written("/bin/true"), 2U);
}

TEST_F(EngineEarTest, CountsWhatIsMoreThanASecondTakes) {
  ear(3).take({.acts = {kExec, kExec, kExec, kExec, kExec}});
  EXPECT_EQ(written("program_started"), 3U);
  EXPECT_EQ(written(R"("count":2,"why":"more happened in a second)"), 1U);
}

TEST_F(EngineEarTest, TellsWhatWasNotToldOnce) {
  EngineEar ear = this->ear(100);
  ear.take({.acts = {}, .lost = 3, .unnamed = 4});
  ear.take({.acts = {kExec}});
  EXPECT_EQ(written("records_lost"), 2U);
  EXPECT_EQ(written(R"("count":3,"why":"what happened was not read)"), 1U);
  EXPECT_EQ(written(R"("count":4,"why":"a name in them is no UTF-8)"), 1U);
}

// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace
}  // namespace cordon::node
