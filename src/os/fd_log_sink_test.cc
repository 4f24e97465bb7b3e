// SPDX-License-Identifier: Apache-2.0
#include "os/fd_log_sink.h"

#include <array>

#include <gtest/gtest.h>

#include "os/file.h"

namespace cordon::os {
namespace {

TEST(FdLogSink, WritesOneLineOfJsonForARecord) {
  auto pipe = pipe2(O_DIRECT);  // keeps each write apart
  ASSERT_TRUE(pipe);
  const ManualClock clock{WallTime{std::chrono::seconds{1'800'000'000}}};
  FdLogSink sink{std::move(pipe->write), clock};
  const std::array fields{LogField{"pid", std::int64_t{7}}, LogField{"text", "two\nlines"}};
  sink.write({LogLevel::info, "launcher", "started", fields});
  std::array<char, 512> buffer{};
  const ssize_t got = ::read(pipe->read.get(), buffer.data(), buffer.size());
  ASSERT_GT(got, 0);
  EXPECT_EQ((std::string{buffer.data(), static_cast<std::size_t>(got)}),
            "{\"time\":\"2027-01-15T08:00:00.000Z\",\"level\":\"info\",\"component\":\"launcher\","
            "\"message\":\"started\",\"pid\":7,"
            "\"text\":\"two\\nlines\"}\n");
}

TEST(FdLogSink, SurvivesADescriptorThatTakesNothing) {
  auto full = openat(at_cwd(), "/dev/full", O_WRONLY);
  ASSERT_TRUE(full);
  const SystemClock clock;
  FdLogSink sink{*std::move(full), clock};
  sink.write({LogLevel::error, "c", "m", {}});
}

}  // namespace
}  // namespace cordon::os
