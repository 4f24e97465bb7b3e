// SPDX-License-Identifier: Apache-2.0
// The routes, and that api/openapi.yaml describes exactly these.
#include "api/rest/routes.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

namespace cordon::api {
namespace {

// "GET /v1/sandboxes sandbox.read"
std::string line_of(std::string method, std::string_view path, std::string_view operation) {
  std::ranges::transform(method, method.begin(), [](char c) { return c >= 'a' ? c - 32 : c; });
  return method + " " + std::string{path} + " " + std::string{operation};
}

std::string_view trimmed(std::string_view line, std::string_view before) {
  line.remove_prefix(before.size());
  return line.substr(0, line.rfind(':') == line.size() - 1 ? line.size() - 1 : line.size());
}

// By its indentation: paths have two spaces, methods four, what they need six.
std::set<std::string> described() {
  std::ifstream file{std::string{CORDON_SOURCE_DIR} + "/api/openapi.yaml"};
  EXPECT_TRUE(file);
  std::set<std::string> all;
  std::string path;
  std::string method;
  std::string operation;
  const auto keep = [&] {
    if (!method.empty()) all.insert(line_of(method, path, operation));
    method.clear();
    operation.clear();
  };
  constexpr std::string_view kNeeds = "      x-cordon-operation: ";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("components:")) break;
    if (line.starts_with("  /")) {
      keep();
      path = trimmed(line, "  ");
    } else if (!path.empty() && line.starts_with("    ") && line[4] != ' ') {
      keep();
      method = trimmed(line, "    ");
    } else if (line.starts_with(kNeeds)) {
      operation = line.substr(kNeeds.size());
    }
  }
  keep();
  return all;
}

TEST(Routes, AreThoseThatAreDescribed) {
  std::set<std::string> served;
  for (const Route& route : all_routes()) {
    const std::string_view operation = route.operation ? to_string(*route.operation) : "";
    EXPECT_TRUE(served.insert(line_of(std::string{route.method}, route.pattern, operation)).second);
  }
  EXPECT_EQ(served, described());
}

TEST(Routes, AreFoundByMethodAndPath) {
  const Match one = match("GET", "/v1/sandboxes/abc/processes/7/wait");
  ASSERT_NE(one.route, nullptr);
  EXPECT_EQ(one.route->pattern, "/v1/sandboxes/{id}/processes/{process}/wait");
  EXPECT_EQ(one.places, (std::vector<std::string>{"abc", "7"}));
  EXPECT_EQ(match("DELETE", "/v1/sandboxes").allowed, "POST, GET");
}

TEST(Routes, OfAPortTakeAllThatFollows) {
  const Match found = match("PUT", "/v1/sandboxes/abc/ports/3000/a%2Fb//c/");
  ASSERT_NE(found.route, nullptr);
  EXPECT_EQ(found.places, (std::vector<std::string>{"abc", "3000", "/a%2Fb//c/"}));
  EXPECT_EQ(match("GET", "/v1/sandboxes/abc/ports/3000/").places.back(), "/");
  EXPECT_EQ(match("GET", "/v1/sandboxes/abc/ports/3000").route, nullptr);
  EXPECT_EQ(match("GET", "/v1/sandboxes/abc/ports/3%300/").route, nullptr);
  EXPECT_EQ(match("CONNECT", "/v1/sandboxes/abc/ports/3000/").route, nullptr);
}

TEST(Routes, AreNotFoundByAnotherSpelling) {
  for (const char* path :
       {"/", "", "/v1", "/v1/", "/v1/sandboxes/", "/v1//sandboxes", "//v1/sandboxes",
        "/v1/sandboxes/%61", "/v1/sandboxes/a/", "/V1/sandboxes", "/v1/healthy", "/v1/health/x",
        "/v1/sandboxes//processes"}) {
    const Match found = match("GET", path);
    EXPECT_EQ(found.route, nullptr) << path;
    EXPECT_EQ(found.allowed, "") << path;
  }
}

}  // namespace
}  // namespace cordon::api
