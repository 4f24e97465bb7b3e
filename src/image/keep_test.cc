// SPDX-License-Identifier: Apache-2.0
#include "image/keep.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "os/file.h"

namespace cordon::image {
namespace {

namespace fs = std::filesystem;

class Keeping : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cordon-keep-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  Store store() const { return *Store::make((base_ / "store").string()); }
  // An image of no layers, as if it had been made.
  void put(const std::string& name) {
    ASSERT_TRUE(store().add({.name = name, .source = "x", .digest = "sha256:0"}));
  }
  std::string refusal(const frame::ToKeeper& wanted) const {
    const frame::FromKeeper said = keep(store(), unpacker_, wanted, os::Fd{});
    const auto* refused = std::get_if<frame::NotKept>(&said);
    return refused == nullptr ? std::string{} : refused->text;
  }

  fs::path base_;
  Unpacker unpacker_{"/nonexistent"};
};

TEST_F(Keeping, ChangesNothingThatIsNotTheNodesOwn) {
  put("debian-12");
  for (const char* name : {"debian-12", "node.", "node", "node.A", "node.a/b", "node.../x", "",
                           "../node.a", "node.a\n"}) {
    EXPECT_FALSE(refusal(frame::ForgetImage{name}).empty()) << name;
    EXPECT_FALSE(refusal(frame::RelabelImage{name, "template:a"}).empty()) << name;
    EXPECT_FALSE(refusal(frame::KeepImage{.name = name, .source = "template:a"}).empty()) << name;
  }
  const auto kept = store().find("debian-12");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->source, "x");
}

TEST_F(Keeping, RelabelsAndForgetsWhatIs) {
  put("node.a");
  EXPECT_EQ(refusal(frame::RelabelImage{"node.a", "template:b"}), "");
  const auto kept = store().find("node.a");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->source, "template:b");
  EXPECT_FALSE(refusal(frame::RelabelImage{"node.a", "two words"}).empty());
  EXPECT_FALSE(refusal(frame::RelabelImage{"node.a", std::string(2000, 'x')}).empty());
  EXPECT_EQ(refusal(frame::ForgetImage{"node.a"}), "");
  EXPECT_FALSE(store().find("node.a"));
  EXPECT_FALSE(refusal(frame::ForgetImage{"node.a"}).empty());
}

TEST_F(Keeping, WantsAnArchive) {
  EXPECT_FALSE(refusal(frame::KeepImage{.name = "node.a", .source = "template:b"}).empty());
  EXPECT_FALSE(store().find("node.a"));
}

}  // namespace
}  // namespace cordon::image
