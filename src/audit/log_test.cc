// SPDX-License-Identifier: Apache-2.0
#include "audit/log.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>

#include <gtest/gtest.h>

#include "audit/log_rig_test.h"
#include "audit/segment.h"
#include "base/bytes.h"
#include "os/prctl.h"
#include "os/seccomp.h"
#include "os/seccomp_compile.h"
#include "os/test_support.h"

namespace cordon::audit {
namespace {

namespace fs = std::filesystem;

class LogTest : public testing::Test {
 protected:
  std::unique_ptr<Log> open(LogOptions options = {}) {
    auto log = Log::open(opened(dir_.path()), clock_, options);
    if (!log) {
      ADD_FAILURE() << log.error().text();
      return nullptr;
    }
    return *std::move(log);
  }
  std::string refusal() {
    const auto log = Log::open(opened(dir_.path()), clock_);
    return log ? "opened" : log.error().text();
  }
  fs::path segment(std::uint64_t first = 0) const { return dir_.path() / segment_name(first); }
  void forget_tail() const { fs::remove(dir_.path() / "tail"); }

  // All of them, each checked: in order, one behind the other.
  std::vector<Record> records() const {
    const auto firsts = list_segments(opened(dir_.path()));
    EXPECT_TRUE(firsts);
    std::vector<Record> all;
    LogEnd end;
    for (const std::uint64_t first : *firsts) {
      std::istringstream in{text_of(segment(first))};
      std::string line;
      std::getline(in, line);
      const auto head = decode_segment_head(line);
      EXPECT_TRUE(head) << line;
      EXPECT_EQ(head->tree, end.tree);
      EXPECT_EQ(head->before, end.before);
      while (std::getline(in, line)) {
        const auto record = decode(line);
        EXPECT_TRUE(record) << line;
        EXPECT_EQ(record->number, all.size());
        EXPECT_EQ(record->before, end.before);
        end.before = leaf_hash(as_bytes(line));
        end.tree.add(end.before);
        all.push_back(*record);
      }
    }
    return all;
  }

  os::TempDir dir_;
  ManualClock clock_{kTime};
};

TEST_F(LogTest, GoesOnWhereItEnded) {
  std::string id;
  for (int round = 0; round < 3; ++round) {
    const auto log = open();
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(kSubject, PolicyAccepted{std::to_string(round)}));
    EXPECT_EQ(log->size(), static_cast<std::uint64_t>(round) + 1);
    if (round > 0) EXPECT_EQ(log->id(), id);
    id = log->id();
    if (round == 1) forget_tail();  // as after a start of the machine
  }
  const std::vector<Record> all = records();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].before, Digest{});
  EXPECT_EQ(all[2].subject, kSubject);
  EXPECT_EQ(std::get<PolicyAccepted>(all[2].event).digest, "2");
}

TEST_F(LogTest, BeginsAnotherSegmentWhenOneIsFull) {
  {
    const auto log = open({.segment_bytes = 2000});
    ASSERT_TRUE(log);
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"x"}));
  }
  const auto firsts = list_segments(opened(dir_.path()));
  ASSERT_TRUE(firsts);
  EXPECT_GT(firsts->size(), 3U);
  for (const std::uint64_t first : *firsts) EXPECT_LT(fs::file_size(segment(first)), 2500U);
  EXPECT_EQ(records().size(), 40U);
}

// As two `cordon run` of one user, or a node and the next one that takes over.
TEST_F(LogTest, TakesTurnsWithOtherWriters) {
  constexpr int kEach = 300;
  std::vector<std::jthread> writers;
  writers.reserve(3);
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([this, i] {
      const SystemClock clock;
      auto log = Log::open(opened(dir_.path()), clock, {.segment_bytes = 20'000});
      ASSERT_TRUE(log) << log.error().text();
      for (int n = 0; n < kEach; ++n) {
        const Status done = (*log)->append({.tenant = {}, .sandbox = std::string{"abc"[i]}},
                                           PolicyAccepted{std::to_string(n)});
        ASSERT_TRUE(done) << done.error().text();
      }
    });
  }
  writers.clear();
  std::map<std::string, int> next;
  for (const Record& record : records()) {
    EXPECT_EQ(std::get<PolicyAccepted>(record.event).digest,
              std::to_string(next[record.subject.sandbox]++));
  }
  for (const char* who : {"a", "b", "c"}) EXPECT_EQ(next[who], kEach);
}

// C259: a writer that dies in the middle of a record has written none.
TEST_F(LogTest, TakesOffWhatADeadWriterLeftAtEveryByte) {
  {
    const auto log = open();
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"kept"}));
    ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"torn"}));
  }
  const std::string whole = text_of(segment());
  const std::size_t torn = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t cut = torn; cut <= whole.size(); ++cut) {
    std::ofstream{segment(), std::ios::binary} << whole.substr(0, cut);
    forget_tail();
    const auto log = open();
    ASSERT_TRUE(log) << cut;
    const std::vector<Record> all = records();
    ASSERT_EQ(all.size(), cut == torn ? 1U : 2U) << cut;
    if (cut > torn && cut < whole.size()) {
      const std::string bytes = whole.substr(torn, cut - torn);
      EXPECT_EQ(all[1].event,
                AuditEvent(LogRecovered{bytes.size(), to_hex(sha256({as_bytes(bytes)}))}));
    }
  }
}

// Its record is in the kernel, but the tail does not say so.
TEST_F(LogTest, ReadsWhatADeadWriterDidNotTell) {
  const auto log = open();
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"0"}));
  const std::string tail = text_of(dir_.path() / "tail");
  ASSERT_TRUE(open()->append(kSubject, PolicyAccepted{"1"}));
  std::ofstream{dir_.path() / "tail", std::ios::binary} << tail;
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"2"}));
  EXPECT_EQ(records().size(), 3U);
}

// The next segment has its name, and nobody was told.
TEST_F(LogTest, GoesOnAfterADeathBetweenSegments) {
  {
    const auto log = open({.segment_bytes = 1});
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"0"}));
    const std::string tail = text_of(dir_.path() / "tail");
    ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"1"}));
    const std::string next = text_of(segment(1));
    std::ofstream{segment(1), std::ios::binary} << next.substr(0, next.find('\n') + 1);
    std::ofstream{dir_.path() / "tail", std::ios::binary} << tail;
  }
  const auto log = open({.segment_bytes = 1});
  ASSERT_TRUE(log);
  const Status done = log->append(kSubject, PolicyAccepted{"1"});
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(records().size(), 2U);
}

TEST_F(LogTest, DoesNotGoOnBehindWhatWasChanged) {
  {
    const auto log = open();
    ASSERT_TRUE(log);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"digest"}));
  }
  const std::string whole = text_of(segment());
  const std::size_t at = whole.find("digest\"}");
  std::string changed = whole;
  changed[at] = 'D';
  std::ofstream{segment(), std::ios::binary} << changed;
  forget_tail();
  EXPECT_NE(refusal().find("record 1 does not follow"), std::string::npos) << refusal();

  std::ofstream{segment(), std::ios::binary} << whole.substr(whole.find('\n') + 1);
  forget_tail();
  EXPECT_NE(refusal().find("the head of"), std::string::npos) << refusal();
}

TEST_F(LogTest, DoesNotGoOnWhereItWasShortened) {
  const auto log = open();
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"0"}));
  const std::uintmax_t size = fs::file_size(segment());
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"1"}));
  fs::resize_file(segment(), size);
  const Status done = log->append(kSubject, PolicyAccepted{"2"});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().text().find("shorter than its writers left it"), std::string::npos);
}

// C258, as far as the log: a full disk takes no part of a record.
TEST_F(LogTest, HasNoPartOfARecordThatDidNotFit) {
  const auto log = open();
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"0"}));
  const auto size = static_cast<rlim_t>(fs::file_size(segment()));
  EXPECT_EQ(os::in_child([&]() -> std::string {
              static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
              const rlimit limit{size + 100, size + 100};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return "setrlimit";
              return os::outcome(log->append(kSubject, PolicyAccepted{"1"}));
            }).substr(0, 9),
            "audit log");
  EXPECT_EQ(fs::file_size(segment()), size);
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"1"}));
  EXPECT_EQ(records().size(), 2U);
}

TEST_F(LogTest, FollowsNoLink) {
  fs::create_symlink("elsewhere", dir_.path() / "tail");
  EXPECT_FALSE(Log::open(opened(dir_.path()), clock_));
}

// fdatasync(2) fails in the thread that asks: as it does once for pages that the disk did not take.
Status sync_with_a_broken_disk(Log& log) {
  Status synced;
  std::thread{[&] {
    const auto filter =
        os::compile_filter({.otherwise = os::FilterAction::allow(),
                            .rules = {{SYS_fdatasync, os::FilterAction::fail(EIO), {}}}});
    ASSERT_TRUE(filter && os::set_no_new_privs() && os::seccomp_load(*filter));
    synced = log.sync();
  }}.join();
  return synced;
}

TEST_F(LogTest, TakesNothingWhileItsDiskFails) {
  const auto log = open();
  ASSERT_TRUE(log);
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"before"}));
  ASSERT_TRUE(log->sync());
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"perhaps"}));
  EXPECT_FALSE(sync_with_a_broken_disk(*log));
  const Status refused = log->append(kSubject, PolicyAccepted{"never"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::unrecorded);
  EXPECT_NE(refused.error().text().find("Input/output error"), std::string::npos);
  // It works again: what may be missing on the disk is told, and the log goes on.
  ASSERT_TRUE(log->sync());
  ASSERT_TRUE(log->append(kSubject, PolicyAccepted{"after"}));
  const auto all = records();
  ASSERT_EQ(all.size(), 4U);
  const auto* lost = std::get_if<RecordsLost>(&all[2].event);
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->source, "disk");
  EXPECT_EQ(lost->count, 1U);
  EXPECT_EQ(std::get<PolicyAccepted>(all[3].event).digest, "after");
}

}  // namespace
}  // namespace cordon::audit
