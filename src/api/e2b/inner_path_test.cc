// SPDX-License-Identifier: Apache-2.0
#include "api/e2b/inner_path.h"

#include <string>

#include <gtest/gtest.h>

namespace cordon::api::e2b {
namespace {

TEST(InnerPath, LeadsToTheHomeWhereItSaysNothing) {
  for (const auto& [named, meant] : {
           std::pair{"", "/home/user"},
           {"~", "/home/user"},
           {"~/a", "/home/user/a"},
           {"a/b", "/home/user/a/b"},
           {"~a", "/home/user/~a"},
           {"/a b/é", "/a b/é"},
           {"/", "/"},
       }) {
    const auto path = inner_path(named);
    ASSERT_TRUE(path) << named;
    EXPECT_EQ(*path, meant) << named;
  }
}

TEST(InnerPath, HasOneSpelling) {
  for (const auto& [named, meant] : {
           std::pair{"//a///b/", "/a/b"},
           {"/a/./b/.", "/a/b"},
           {"/a/../b", "/b"},
           {"../../../..", "/"},
           {"/../etc/passwd", "/etc/passwd"},
           {"..", "/home"},
           {"/a/...", "/a/..."},
       }) {
    const auto path = inner_path(named);
    ASSERT_TRUE(path) << named;
    EXPECT_EQ(*path, meant) << named;
  }
}

TEST(InnerPath, RefusesWhatNoKernelTakes) {
  EXPECT_FALSE(inner_path(std::string{"/a\0b", 4}));
  EXPECT_FALSE(inner_path(std::string(5000, 'a')));
  EXPECT_TRUE(inner_path("/" + std::string(4000, 'a')));
}

TEST(InnerPath, EndsInAName) {
  EXPECT_EQ(base_name("/a/b"), "b");
  EXPECT_EQ(base_name("/"), "/");
}

}  // namespace
}  // namespace cordon::api::e2b
