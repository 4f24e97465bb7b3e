// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/sandbox_request.h"

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

bool is_taken(std::string_view body) {
  policy::Problems problems{"request"};
  return static_cast<bool>(read_sandbox_request(body, problems));
}

// As API v1 would be asked, and as it takes it.
void expect_same(std::string_view body, std::string_view plain) {
  const auto said = as_create_request(body);
  ASSERT_TRUE(said) << said.error().text();
  EXPECT_EQ(*said, plain) << body;
  EXPECT_TRUE(is_taken(body)) << body;
}

TEST(E2bSandboxRequest, ReachesNothingWhereItSaysNothing) {
  expect_same(
      R"({"templateID":"base"})",
      R"({"timeout_seconds":300,"labels":{"e2b.template":"base"},"policy":{"process":{"user":"either"},"network":{"ingress":"every_port"}}})");
}

TEST(E2bSandboxRequest, IsSaidInTheWordsOfApiV1) {
  expect_same(
      R"({"templateID":"python","metadata":{"user":"a b"},"envVars":{"A":"1"},"timeout":62,
          "allow_internet_access":false,"network":{"allowOut":["example.com"],"denyOut":["0.0.0.0/0"]}})",
      R"({"timeout_seconds":62,"labels":{"e2b.template":"python","user":"a b"},"policy":{)"
      R"("filesystem":{"root":"image:python"},"environment":{"set":{"A":"1"}},)"
      R"("process":{"user":"either"},"network":{"ingress":"every_port","mode":"restricted","egress_allowlist":["example.com:443","example.com:80"]}}})");
}

TEST(E2bSandboxRequest, ReachesAllOnlyWhereItAsksForIt) {
  expect_same(
      R"({"templateID":"base","allow_internet_access":true})",
      R"({"timeout_seconds":300,"labels":{"e2b.template":"base"},)"
      R"("policy":{"process":{"user":"either"},"network":{"ingress":"every_port","mode":"public"}}})");
  expect_same(
      R"({"allow_internet_access":true,"network":{"denyOut":["0.0.0.0/0"]}})",
      R"({"timeout_seconds":300,"labels":{"e2b.template":"base"},"policy":{"process":{"user":"either"},"network":{"ingress":"every_port"}}})");
}

TEST(E2bSandboxRequest, RefusesWhatItWouldLeaveOut) {
  for (const char* body : {
           R"({"autoPause":true})",
           R"({"mcp":{}})",
           R"({"volumeMounts":[]})",
           R"({"network":{"rules":{}}})",
           R"({"network":{"egressProxy":{"address":"p:1"}}})",
           R"({"timeout":0})",
           R"({"timeout":"soon"})",
           R"({"metadata":{"e2b.template":"x"}})",
           R"({"templateID":"../x"})",
           R"({"envVars":{"A=B":"1"}})",
           R"([])",
       }) {
    EXPECT_FALSE(is_taken(body)) << body;
  }
  EXPECT_TRUE(is_taken(R"({"autoPause":false,"secure":true,"autoResume":{"enabled":true}})"));
}

}  // namespace
}  // namespace cordon::api::e2b
