// SPDX-License-Identifier: Apache-2.0
#include "audit/verify.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "audit/log.h"
#include "audit/log_rig_test.h"
#include "audit/segment.h"
#include "os/test_support.h"

namespace cordon::audit {
namespace {

namespace fs = std::filesystem;

bool always(const Head& /*head*/) { return true; }

// A log of several segments, its heads, and all ways to put its files back.
class VerifyTest : public testing::Test {
 protected:
  using Files = std::map<std::string, std::string>;

  void SetUp() override {
    auto log = Log::open(opened(dir_.path()), clock_, {.segment_bytes = 4000});
    ASSERT_TRUE(log) << log.error().text();
    for (int i = 0; i < kRecords; ++i) {
      clock_.advance(std::chrono::milliseconds{i % 3});
      const Status done =
          i % 2 == 0
              ? (*log)->append(kSubject, ActRefused{{.code = "C", .tried = std::to_string(i)}})
              : (*log)->append(kSubject, NetworkUsed{.host = "example.org", .port = 443});
      ASSERT_TRUE(done) << done.error().text();
      if (i % 20 == 19) add_head();
    }
    for (const auto& entry : fs::directory_iterator{dir_.path()}) {
      if (entry.path().extension() == ".log")
        files_[entry.path().filename()] = text_of(entry.path());
    }
    ASSERT_GT(files_.size(), 3U);
  }

  void add_head() {
    const Verified now = verified({});
    heads_.push_back(
        {.log = now.log, .size = now.records, .root = now.root, .time = clock_.wall()});
  }
  void put(const Files& files) {
    for (const auto& entry : fs::directory_iterator{dir_.path()}) {
      const std::string name = entry.path().filename();
      if (entry.path().extension() == ".log" && !files.contains(name)) fs::remove(entry.path());
    }
    for (const auto& [name, bytes] : files) {
      const auto there = there_.find(name);
      if (there != there_.end() && there->second == bytes) continue;
      std::ofstream{dir_.path() / name, std::ios::binary} << bytes;
    }
    there_ = files;
  }
  Verified verified(const std::vector<Head>& heads) {
    auto done = verify(opened(dir_.path()), heads, always);
    if (!done) {
      ADD_FAILURE() << done.error().text();
      return {};
    }
    return *std::move(done);
  }
  // Nothing where nothing was found.
  Finding finding() {
    return verified(heads_).finding.value_or(Finding{.record = ~0ULL, .what = "nothing"});
  }
  // What an unreadable log says counts as found.
  bool is_found() {
    const auto done = verify(opened(dir_.path()), heads_, always);
    return !done || done->finding.has_value();
  }

  static constexpr int kRecords = 60;
  os::TempDir dir_;
  ManualClock clock_{kTime};
  std::vector<Head> heads_;
  Files files_;
  Files there_;  // as of the last put()
};

TEST_F(VerifyTest, FindsNothingInWhatWasWritten) {
  const Verified all = verified(heads_);
  EXPECT_FALSE(all.finding);
  EXPECT_EQ(all.records, kRecords);
  EXPECT_EQ(all.sealed, kRecords);
  EXPECT_EQ(all.heads, heads_.size());
  EXPECT_EQ(all.unknown, 0U);
  EXPECT_EQ(all.unfinished, 0U);
}

// Byte by byte, line by line, file by file.
void mutate(std::map<std::string, std::string>& files, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  auto at = files.begin();
  std::advance(at, below(files.size()));
  std::string& bytes = at->second;
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < bytes.size();) {
    const std::size_t end = bytes.find('\n', from) + 1;
    lines.push_back(bytes.substr(from, end - from));
    from = end;
  }
  const auto joined = [&] {
    bytes.clear();
    for (const std::string& line : lines) bytes += line;
  };
  const std::size_t one_byte = below(bytes.size());
  const std::size_t one = below(lines.size());
  const std::size_t other = below(lines.size());
  switch (below(9)) {
    case 0:
      bytes[one_byte] =
          static_cast<char>(static_cast<unsigned char>(bytes[one_byte]) ^ (1U << below(8)));
      return;
    case 1:
      bytes.erase(below(bytes.size()), 1 + below(5));
      return;
    case 2:
      bytes.insert(below(bytes.size()), 1, static_cast<char>(below(256)));
      return;
    case 3:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(one));
      return joined();
    case 4:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(one), lines[other]);
      return joined();
    case 5:
      std::swap(lines[one], lines[other]);
      return joined();
    case 6:
      bytes.resize(below(bytes.size()));
      return;
    case 7:
      files.erase(at);
      return;
    default:
      lines[one] = lines[other];
      return joined();
  }
}

// C253; 10,000 in ./dev full.
// The record that a head ends with: the next one says which it was.
TEST_F(VerifyTest, NamesTheRecordThatAHeadEndsWith) {
  Files changed = files_;
  const std::string number = "\"seq\":" + std::to_string(heads_.front().size - 1) + ",";
  for (auto& [name, bytes] : changed) {
    const std::size_t at = bytes.find(number);
    if (at == std::string::npos) continue;
    const std::size_t host = bytes.find("example.org", at);
    ASSERT_NE(host, std::string::npos);
    bytes[host] = 'E';
  }
  ASSERT_NE(changed, files_);
  put(changed);
  const Finding seen = finding();
  EXPECT_EQ(seen.record, heads_.front().size - 1) << seen.what;
}

TEST_F(VerifyTest, FindsEveryMutation) {
  std::mt19937 random{20261117};
  const char* const wanted = std::getenv("CORDON_MUTATIONS");
  const std::int64_t all = wanted == nullptr ? 300 : std::strtol(wanted, nullptr, 10);
  int made = 0;
  while (made < all) {
    Files changed = files_;
    mutate(changed, random);
    if (changed == files_) continue;
    ++made;
    put(changed);
    ASSERT_TRUE(is_found()) << "mutation " << made;
  }
  put(files_);
  EXPECT_FALSE(is_found());
}

TEST_F(VerifyTest, NamesTheRecordThatWasChanged) {
  Files changed = files_;
  std::string& bytes = changed.begin()->second;
  const std::size_t at = bytes.find(R"("tried":"10")");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 12, R"("tried":"11")");
  put(changed);
  const Finding seen = finding();
  EXPECT_EQ(seen.record, 10U);
}

// C254: an older state of a log is a log; only who has a newer head can tell.
TEST_F(VerifyTest, FindsAShorterLogByAnAnchoredHead) {
  Files older = files_;
  std::string& last = older.rbegin()->second;
  last.resize(last.rfind('\n', last.size() - 2) + 1);
  put(older);
  EXPECT_FALSE(verified({}).finding);
  const Finding seen = finding();
  EXPECT_NE(seen.what.find("tells of 60 records; the log has 59"), std::string::npos) << seen.what;
}

// C255.
// C255, C310: whoever holds the other one finds it.
TEST_F(VerifyTest, FindsTwoHeadsOfOneSize) {
  Head other = heads_[1];
  other.root[0] ^= std::byte{1};
  heads_.push_back(other);
  const Finding seen = finding();
  EXPECT_NE(seen.what.find("two histories"), std::string::npos) << seen.what;
}

TEST_F(VerifyTest, FindsAHeadOfAKeyThatNobodyTrusts) {
  const auto done =
      verify(opened(dir_.path()), heads_, [](const Head& head) { return head.size < 60; });
  ASSERT_TRUE(done);
  EXPECT_EQ(done->sealed, 40U);
  EXPECT_NE(done->finding.value_or(Finding{}).what.find("not signed by a key"), std::string::npos);
}

TEST_F(VerifyTest, LeavesHeadsOfOtherLogsAside) {
  Head other = heads_[0];
  other.log = "another";
  other.size = 1'000'000;
  heads_.push_back(other);
  EXPECT_FALSE(verified(heads_).finding);
}

TEST_F(VerifyTest, ToleratesOnlyALastRecordThatIsBeingWritten) {
  Files longer = files_;
  longer.rbegin()->second += R"({"seq":60,)";
  put(longer);
  EXPECT_FALSE(verified(heads_).finding);
  EXPECT_EQ(verified(heads_).unfinished, 10U);
  longer = files_;
  longer.begin()->second += R"({"seq":60,)";
  put(longer);
  EXPECT_TRUE(verified(heads_).finding);
}

TEST(Head, IsReadAsItWasWritten) {
  Head head{.log = "k7f3", .size = 42, .time = kTime};
  head.root.fill(std::byte{1});
  head.key.fill(std::byte{2});
  head.signature.fill(std::byte{3});
  const std::string line = encode(head);
  const auto read = decode_head(line);
  ASSERT_TRUE(read) << line;
  EXPECT_EQ(*read, head);
  EXPECT_TRUE(
      signed_text(head).starts_with("cordon audit head v1\n{\"log\":\"k7f3\",\"size\":42,"));
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string changed = line;
    changed[i] = changed[i] == '0' ? '1' : '0';
    if (changed == line) continue;
    const auto other = decode_head(changed);
    if (other) EXPECT_NE(*other, head);
  }
}

}  // namespace
}  // namespace cordon::audit
