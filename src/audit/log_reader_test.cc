// SPDX-License-Identifier: Apache-2.0
#include "audit/log_reader.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "audit/log.h"
#include "audit/log_rig_test.h"
#include "audit/segment.h"
#include "os/test_support.h"

namespace cordon::audit {
namespace {

class LogReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto log = Log::open(opened(dir_.path()), clock_, {.segment_bytes = 2000});
    ASSERT_TRUE(log) << log.error().text();
    log_ = *std::move(log);
  }
  void write(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(log_->append(kSubject, PolicyAccepted{std::to_string(next_++)}));
    }
  }
  // The digests of all that it gives, until it gives nothing.
  static std::vector<std::string> rest(LogReader& reader) {
    std::vector<std::string> all;
    while (true) {
      const std::uint64_t number = reader.number();
      const auto read = reader.next();
      EXPECT_TRUE(read) << read.error().text();
      if (!read) return all;
      const std::optional<std::string_view> line = *read;
      if (!line) return all;
      const auto record = decode(*line);
      EXPECT_TRUE(record);
      EXPECT_EQ(record->number, number);
      all.push_back(std::get<PolicyAccepted>(record->event).digest);
    }
  }
  std::vector<std::string> numbers(int from, int to) const {
    std::vector<std::string> all;
    for (int i = from; i < to; ++i) all.push_back(std::to_string(i));
    return all;
  }

  os::TempDir dir_;
  ManualClock clock_{kTime};
  std::unique_ptr<Log> log_;
  int next_ = 0;
};

TEST_F(LogReaderTest, GivesAllOfSeveralSegments) {
  write(50);
  ASSERT_GT(list_segments(opened(dir_.path()))->size(), 3U);
  auto reader = LogReader::open(opened(dir_.path()));
  ASSERT_TRUE(reader);
  EXPECT_EQ(rest(*reader), numbers(0, 50));
}

TEST_F(LogReaderTest, BeginsAtAnyOfThem) {
  write(50);
  for (int first = 0; first <= 50; ++first) {
    auto reader = LogReader::open(opened(dir_.path()), static_cast<std::uint64_t>(first));
    ASSERT_TRUE(reader) << first;
    EXPECT_EQ(rest(*reader), numbers(first, 50));
  }
  EXPECT_FALSE(LogReader::open(opened(dir_.path()), 51));
}

TEST_F(LogReaderTest, GoesOnWithWhatIsWrittenLater) {
  auto reader = LogReader::open(opened(dir_.path()));
  ASSERT_TRUE(reader);
  for (int round = 0; round < 40; ++round) {
    EXPECT_TRUE(rest(*reader).empty());
    write(round % 5);
    EXPECT_EQ(rest(*reader), numbers(next_ - round % 5, next_));
  }
}

// A writer that dies in a record leaves a part of it, which goes before the next one is written.
TEST_F(LogReaderTest, KeepsNothingOfARecordThatIsNotWhole) {
  write(2);
  auto reader = LogReader::open(opened(dir_.path()));
  ASSERT_TRUE(reader);
  const auto segment = dir_.path() / segment_name(0);
  std::ofstream{segment, std::ios::app} << "the beginning of a record";
  EXPECT_EQ(rest(*reader), numbers(0, 2));
  ASSERT_TRUE(log_->append(kSubject, PolicyAccepted{"2"}));
  const auto recovered = reader->next();
  ASSERT_TRUE(recovered);
  const auto record = decode(recovered->value_or(std::string_view{}));
  ASSERT_TRUE(record);
  EXPECT_TRUE(std::holds_alternative<LogRecovered>(record->event));
  EXPECT_EQ(rest(*reader), numbers(2, 3));
}

TEST_F(LogReaderTest, SaysWhereThereIsNoLog) {
  const os::TempDir empty;
  const auto reader = LogReader::open(opened(empty.path()));
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code(), Errc::not_found);
}

}  // namespace
}  // namespace cordon::audit
