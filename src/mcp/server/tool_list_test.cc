// SPDX-License-Identifier: Apache-2.0
#include "mcp/server/tool_list.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "mcp/server/schema.h"

namespace cordon::mcp::server {
namespace {

json::object read(const char* text) { return json::parse(text).as_object(); }

TEST(ToolList, IsTheSameWheneverItIsAskedFor) {
  const ToolList one{{}};
  const ToolList two{{}};
  EXPECT_EQ(json::serialize(one.result()), json::serialize(one.result()));
  EXPECT_EQ(json::serialize(one.result()), json::serialize(two.result()));
}

TEST(ToolList, HasNoReviewWhereWritesLandAtOnce) {
  EXPECT_NE(ToolList{{}}.find("apply"), nullptr);
  const ToolList live{{.is_live = true}};
  EXPECT_EQ(live.find("apply"), nullptr);
  EXPECT_EQ(live.find("diff"), nullptr);
  const json::object* const run = live.find("run");
  ASSERT_NE(run, nullptr);
  EXPECT_TRUE(run->at("annotations").at("destructiveHint").as_bool());
}

TEST(ToolList, SaysWhetherTheWorldCanBeReached) {
  for (const bool reaches : {false, true}) {
    const ToolList list{{.reaches_network = reaches}};
    const json::object* const run = list.find("run");
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->at("annotations").at("openWorldHint").as_bool(), reaches);
  }
}

TEST(ToolList, DeclaresEveryToolInFull) {
  const json::object all = ToolList{{}}.result();
  for (const json::value& tool : all.at("tools").as_array()) {
    const std::string text = json::serialize(tool);
    EXPECT_EQ(text.find('$'), std::string::npos) << text;
    for (const char* const key :
         {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}) {
      EXPECT_TRUE(tool.as_object().contains(key)) << key << text;
    }
    EXPECT_FALSE(tool.at("inputSchema").at("additionalProperties").as_bool());
  }
}

TEST(ToolList, RefusesArgumentsThatItDoesNotDeclare) {
  const ToolList list{{}};
  const json::object* const run = list.find("run");
  ASSERT_NE(run, nullptr);
  EXPECT_TRUE(check_arguments(*run, read(R"({"command":"ls","timeout_s":5,"env":{"A":"b"}})")));
  EXPECT_TRUE(check_arguments(*run, read(R"({"argv":["ls","-l"]})")));
  for (const char* const bad :
       {R"({"command":1})", R"({"command":"ls","unsandboxed":true})", R"({"argv":[]})",
        R"({"argv":"ls"})", R"({"argv":["ls",1]})", R"({"command":"ls","timeout_s":51})",
        R"({"command":"ls","timeout_s":-1})", R"({"command":"ls","timeout_s":1.5})",
        R"({"command":"ls","env":{"A":1}})", R"({"command":"ls","env":[]})"}) {
    EXPECT_FALSE(check_arguments(*run, read(bad))) << bad;
  }
  const json::object* const code = list.find("run_code");
  ASSERT_NE(code, nullptr);
  EXPECT_FALSE(check_arguments(*code, read(R"({"language":"python"})")));
  EXPECT_FALSE(check_arguments(*code, read(R"({"language":"perl","code":""})")));
  EXPECT_TRUE(check_arguments(*code, read(R"({"language":"bash","code":""})")));
}

TEST(Schema, TakesOneOfSeveralTypes) {
  const json::object schema = read(R"({"type":["integer","null"]})");
  EXPECT_TRUE(fits(schema, nullptr));
  EXPECT_TRUE(fits(schema, 1));
  EXPECT_FALSE(fits(schema, "1"));
}

TEST(Schema, NamesThePlace) {
  const auto misfit = fits(
      read(R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}})"),
      json::parse(R"({"a":["x",2]})"));
  ASSERT_FALSE(misfit);
  EXPECT_NE(misfit.error().text().find("`a`[1]"), std::string::npos) << misfit.error().text();
}

}  // namespace
}  // namespace cordon::mcp::server
