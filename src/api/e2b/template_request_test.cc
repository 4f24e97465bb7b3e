// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/template_request.h"

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

TEST(E2bTemplateRequest, NamesHaveATagAndAreOfNoTeam) {
  const auto plain = read_template_name("my-tpl");
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, (TemplateName{"my-tpl", "default"}));
  const auto tagged = read_template_name("team/my_tpl2:v1.0");
  ASSERT_TRUE(tagged);
  EXPECT_EQ(*tagged, (TemplateName{"my_tpl2", "v1.0"}));
  for (const char* odd : {"", "My", "-a", "a:", ":x", "a b", "a/b/c", "a:b:c", "../x", "a\n"}) {
    EXPECT_FALSE(read_template_name(odd)) << odd;
  }
}

TEST(E2bTemplateRequest, ANewOneHasTheTagOfItsNameAmongOthers) {
  const auto usual = read_new_template(R"({"name":"a","cpuCount":2,"memoryMB":512})");
  ASSERT_TRUE(usual);
  EXPECT_EQ(*usual, (NewTemplate{"a", {"default"}, 2, 512}));
  const auto tagged = read_new_template(R"({"name":"a:v1","tags":["v2","v2"]})");
  ASSERT_TRUE(tagged);
  EXPECT_EQ(*tagged, (NewTemplate{"a", {"v1", "v2"}}));
  const auto only = read_new_template(R"({"name":"a","tags":["v2"]})");
  ASSERT_TRUE(only);
  EXPECT_EQ(*only, (NewTemplate{"a", {"v2"}}));
  EXPECT_FALSE(read_new_template(R"({"name":"a","tags":["x y"]})"));
  EXPECT_FALSE(read_new_template(R"({"name":"a","memoryMB":1})"));
  EXPECT_FALSE(read_new_template("{}"));
}

TEST(E2bTemplateRequest, StepsAreKnownOrRefused) {
  const auto order = read_build_order(
      R"({"fromImage":"debian:12","force":false,"startCmd":"serve","readyCmd":"true","steps":[)"
      R"({"type":"ENV","args":["A","1","B","2"]},{"type":"WORKDIR","args":["/app"]},)"
      R"({"type":"RUN","args":["make\ninstall","root"]},)"
      R"({"type":"COPY","args":["a","b","",""],"filesHash":")" +
      std::string(64, 'a') + R"("}]})");
  ASSERT_TRUE(order) << order.error().text();
  EXPECT_EQ(order->image, "debian-12");
  EXPECT_EQ(order->start, "serve");
  ASSERT_EQ(order->steps.size(), 4U);
  EXPECT_EQ(order->steps[2].arguments, (std::vector<std::string>{"make\ninstall", "root"}));
  EXPECT_EQ(order->steps[3].files, std::string(64, 'a'));
  for (const char* odd : {R"({"type":"EXPOSE","args":["80"]})", R"({"type":"ENV","args":["A"]})",
                          R"({"type":"RUN","args":[]})", R"({"type":"COPY","args":["a","b"]})",
                          R"({"type":"COPY","args":["a","b"],"filesHash":"../../etc/passwd"})",
                          R"({"type":"WORKDIR","args":["/a\u0000b"]})"}) {
    EXPECT_FALSE(read_build_order(std::string{R"({"steps":[)"} + odd + "]}")) << odd;
  }
  EXPECT_FALSE(read_build_order(R"({"fromImage":"x","fromImageRegistry":{"type":"aws"}})"));
}

TEST(E2bTemplateRequest, ImagesOfOthersHaveNamesHere) {
  EXPECT_EQ(local_image("debian:12"), "debian-12");
  EXPECT_EQ(local_image("docker.io/library/python:3.11-slim"), "python-3.11-slim");
  EXPECT_EQ(local_image("oven/bun:latest"), "oven-bun");
  EXPECT_EQ(local_image("e2bdev/base"), "");
  EXPECT_EQ(local_image(""), "");
}

}  // namespace
}  // namespace cordon::api::e2b
