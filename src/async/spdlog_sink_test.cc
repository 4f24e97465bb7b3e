// SPDX-License-Identifier: Apache-2.0
// Lines arrive whole, timed and escaped.
#include "async/spdlog_sink.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cordon::async {
namespace {

class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = std::filesystem::temp_directory_path() / "cordon-log-XXXXXX";
    dir_ = ::mkdtemp(name.data());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }
  std::filesystem::path path() const { return dir_ / "log"; }
  std::vector<std::string> lines() const {
    std::ifstream in{path()};
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

 private:
  std::filesystem::path dir_;
};

ManualClock fixed_clock() {
  return ManualClock{WallTime{std::chrono::milliseconds{1'700'000'000'042}}};
}

TEST(SpdlogSink, WritesOneTimedJsonLinePerRecord) {
  const TemporaryFile file;
  const ManualClock clock = fixed_clock();
  {
    auto sink = SpdlogSink::to_file(file.path(), clock);
    ASSERT_TRUE(sink) << sink.error().text();
    const LogField field{"host", std::string_view{"a\nb"}};
    (*sink)->write({LogLevel::info, "egress", "refused", {&field, 1}});
  }
  const auto lines = file.lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], R"({"time":"2023-11-14T22:13:20.042Z","level":"info","component":"egress",)"
                      R"("message":"refused","host":"a\nb"})");
}

TEST(SpdlogSink, KeepsLinesWholeWhenManyThreadsWrite) {
  const TemporaryFile file;
  const ManualClock clock = fixed_clock();
  {
    auto sink = SpdlogSink::to_file(file.path(), clock);
    ASSERT_TRUE(sink);
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 500; ++j) (*sink)->write({LogLevel::debug, "test", "line", {}});
      });
    }
    threads.clear();
    EXPECT_EQ((*sink)->dropped(), 0U);
  }
  const auto lines = file.lines();
  EXPECT_EQ(lines.size(), 2000U);
  for (const std::string& line : lines) EXPECT_EQ(line, lines.front());
}

TEST(SpdlogSink, SaysWhenTheFileCannotBeOpened) {
  const TemporaryFile file;
  const ManualClock clock = fixed_clock();
  std::filesystem::create_directory(file.path());
  EXPECT_FALSE(SpdlogSink::to_file(file.path(), clock));
}

}  // namespace
}  // namespace cordon::async
