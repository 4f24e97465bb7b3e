// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/template_builds.h"

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

std::shared_ptr<Build> build_of(const std::string& tenant, const std::string& id,
                                BuildStatus status = BuildStatus::ready) {
  auto build = std::make_shared<Build>();
  build->id = id;
  build->tenant = tenant;
  build->template_id = "t";
  build->status = status;
  return build;
}

TEST(E2bBuilds, TellWholeLinesInTheirOrder) {
  Build build;
  build.hear({}, false, "one\ntw");
  build.hear({}, false, "o\n");
  build.hear({}, true, "half");
  build.hear({}, false, "\xff!\n");
  build.end_line({});
  ASSERT_EQ(build.lines.size(), 4U);
  EXPECT_EQ(build.lines[1].text, "two");
  EXPECT_EQ(build.lines[2].text, "half");
  EXPECT_TRUE(build.lines[2].is_error);
  EXPECT_EQ(build.lines[3].text, "?!");
}

TEST(E2bBuilds, HoldNoMoreThanIsBounded) {
  Build build;
  for (int count = 0; count < 2'000; ++count) build.hear({}, false, std::string(5'000, 'x'));
  build.end_line({});
  std::size_t bytes = 0;
  for (const BuildLine& line : build.lines) bytes += line.text.size();
  EXPECT_LE(bytes, Build::kMostBytes);
  EXPECT_GT(build.left_out, 0U);
  Build short_lines;
  for (int count = 0; count < 20'000; ++count) short_lines.hear({}, false, "\n");
  EXPECT_EQ(short_lines.lines.size(), Build::kMostLines);
}

TEST(E2bBuilds, AreTheirTenantsAlone) {
  Builds builds;
  ASSERT_TRUE(builds.add(build_of("a", "1")));
  EXPECT_NE(builds.find("a", "1"), nullptr);
  EXPECT_EQ(builds.find("b", "1"), nullptr);
  EXPECT_TRUE(builds.is_asked("a", "t"));
  EXPECT_FALSE(builds.is_asked("b", "t"));
}

TEST(E2bBuilds, MakeRoomAmongATenantsOwn) {
  Builds builds;
  ASSERT_TRUE(builds.add(build_of("other", "0")));
  for (std::size_t count = 0; count < 3 * Builds::kMostKept; ++count) {
    ASSERT_TRUE(builds.add(build_of("a", std::to_string(count))));
  }
  EXPECT_NE(builds.find("other", "0"), nullptr);
  EXPECT_EQ(builds.find("a", "0"), nullptr);
  EXPECT_NE(builds.find("a", std::to_string(3 * Builds::kMostKept - 1)), nullptr);
}

TEST(E2bBuilds, AreUnderWayByFewAtOnce) {
  Builds builds;
  EXPECT_TRUE(builds.may_begin("a"));
  ASSERT_TRUE(builds.add(build_of("a", "1", BuildStatus::building)));
  ASSERT_TRUE(builds.add(build_of("a", "2", BuildStatus::building)));
  EXPECT_FALSE(builds.may_begin("a"));
  EXPECT_TRUE(builds.may_begin("b"));
  ASSERT_TRUE(builds.add(build_of("b", "3", BuildStatus::building)));
  ASSERT_TRUE(builds.add(build_of("c", "4", BuildStatus::building)));
  EXPECT_FALSE(builds.may_begin("d"));
}

TEST(E2bBuilds, TellWhyTheyFailed) {
  const auto build = build_of("a", "1", BuildStatus::error);
  build->failure = "it ended with 7";
  build->failed_step = "3";
  build->say({}, "RUN x");
  const std::string told = to_json(*build, 0);
  EXPECT_NE(told.find(R"("reason":{"message":"it ended with 7","step":"3"})"), std::string::npos);
  EXPECT_NE(told.find("RUN x"), std::string::npos);
  EXPECT_EQ(to_json(*build, 1).find("RUN x"), std::string::npos);
  EXPECT_EQ(to_json(*build, 1'000).find("RUN x"), std::string::npos);
}

}  // namespace
}  // namespace cordon::api::e2b
