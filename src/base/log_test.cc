// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cordon {
namespace {

class Collect final : public LogSink {
 public:
  void write(const LogRecord& record) noexcept override { lines.push_back(to_json_line(record)); }
  std::vector<std::string> lines;
};

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(Log, ReachesTheInstalledSinkAndNoOther) {
  log(LogLevel::info, "test", "dropped");
  Collect sink;
  set_log_sink(&sink);
  log(LogLevel::warning, "test", "kept",
      {{"path", "a\"b"}, {"count", std::int64_t{3}}, {"ok", true}});
  set_log_sink(nullptr);
  log(LogLevel::info, "test", "dropped");
  ASSERT_EQ(sink.lines.size(), 1U);
  EXPECT_EQ(
      sink.lines[0],
      R"({"level":"warning","component":"test","message":"kept","path":"a\"b","count":3,"ok":true})");
}

TEST(Log, HostileTextCannotEndTheLineOrReachTheTerminal) {
  EXPECT_EQ(in_quotes("a\nb\x1b[2J\x7f"), R"("a\nb\u001b[2J\u007f")");
  EXPECT_EQ(in_quotes("\xc2\x9b"), R"("\u00c2\u009b")") << "C1 control as UTF-8";
  EXPECT_EQ(in_quotes("\xff\xc0\xaf"), R"("\u00ff\u00c0\u00af")") << "no UTF-8";
  EXPECT_EQ(in_quotes("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
}

}  // namespace
}  // namespace cordon
