// SPDX-License-Identifier: Apache-2.0
// What the words of `cordon cp` mean, and which links of a stranger's tree are made here.
#include "cli/copy_place.h"

#include <gtest/gtest.h>

namespace cordon::cli {
namespace {

// A sandbox's id, as they look.
constexpr const char* kId = "abcdefghijklmnop";

TEST(CopyPlaces, AreInASandboxOrHere) {
  const CopyPlace inside = read_copy_place(std::string{kId} + ":/workspace/a:b");
  EXPECT_EQ(inside.sandbox, kId);
  EXPECT_EQ(inside.path, "/workspace/a:b");
  for (const char* here : {"a", "./a:b", "/a:b", "-", "A B:c", ":x"}) {
    EXPECT_EQ(read_copy_place(here).sandbox, "") << here;
    EXPECT_EQ(read_copy_place(here).path, here);
  }
  EXPECT_TRUE(read_copy_place("-").is_stream());
}

TEST(CopyPlaces, AreOneOfEach) {
  const CopyPlace inside{kId, "/w"};
  const CopyPlace relative{kId, "w"};
  const CopyPlace here{"", "w"};
  EXPECT_TRUE(check_copy(inside, here));
  EXPECT_TRUE(check_copy(here, inside));
  EXPECT_FALSE(check_copy(here, here));
  EXPECT_FALSE(check_copy(inside, inside));
  EXPECT_FALSE(check_copy(here, relative));
  EXPECT_FALSE(check_copy({"", ""}, inside));
}

TEST(CopyPaths, TellWhetherOnlyWhatIsInItIsMeant) {
  EXPECT_EQ(read_copy_path("a/b").path, "a/b");
  EXPECT_FALSE(read_copy_path("a/b").only_contents);
  EXPECT_EQ(read_copy_path("a/b//").path, "a/b");
  EXPECT_TRUE(read_copy_path("a/b//").is_directory);
  EXPECT_EQ(read_copy_path("a/.").path, "a");
  EXPECT_TRUE(read_copy_path("a/.").only_contents);
  EXPECT_EQ(read_copy_path(".").path, ".");
  EXPECT_TRUE(read_copy_path(".").only_contents);
  EXPECT_EQ(read_copy_path("/").path, "/");
  EXPECT_EQ(read_copy_path("/.").path, "/");
  EXPECT_EQ(last_name("/a/b"), "b");
  EXPECT_EQ(last_name("b"), "b");
  EXPECT_EQ(last_name(".."), "");
  EXPECT_EQ(last_name("/"), "");
}

TEST(Links, ThatLeadOutOfATreeAreKnown) {
  for (const auto& [path, target] : std::vector<std::pair<std::string, std::string>>{
           {"l", "f"}, {"l", "./d/f"}, {"d/l", "../f"}, {"a/b/l", "../../c"}, {"d/l", ".."}}) {
    EXPECT_TRUE(stays_inside(path, target)) << path << " -> " << target;
  }
  for (const auto& [path, target] : std::vector<std::pair<std::string, std::string>>{
           {"l", "/etc/passwd"},
           {"l", ".."},
           {"l", "../x"},
           {"d/l", "../../x"},
           {"l", "d/../../x"},
           // Where `d/up` is a link to `..`, this would be beside the tree.
           {"l", "d/up/../x"},
           {"d/l", "up/../x"},
           {"l", ""}}) {
    EXPECT_FALSE(stays_inside(path, target)) << path << " -> " << target;
  }
}

}  // namespace
}  // namespace cordon::cli
