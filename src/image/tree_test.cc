// SPDX-License-Identifier: Apache-2.0
// Layers as trees, and trees over one another.
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "image/flatten.h"
#include "image/tree_writer.h"
#include "os/file.h"

namespace cordon::image {
namespace {

namespace fs = std::filesystem;
using frame::ArchiveEntry;
using frame::ArchiveType;

class Trees : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cordon-image-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
  }
  void TearDown() override { fs::remove_all(base_); }

  os::Fd directory(const std::string& name) {
    fs::create_directory(base_ / name);
    return *os::openat(os::at_cwd(), (base_ / name).c_str(), O_RDONLY | O_DIRECTORY);
  }
  static ArchiveEntry file(std::string path) { return {.path = std::move(path), .mode = 0644}; }
  static ArchiveEntry link(std::string path, std::string target) {
    return {.path = std::move(path), .type = ArchiveType::link, .target = std::move(target)};
  }
  static Status write(TreeWriter& writer, const std::string& path, const std::string& text) {
    TRY_DO(writer.take(file(path)));
    return text.empty() ? Status{} : writer.take(frame::ArchiveData{.offset = 0, .bytes = text});
  }
  std::string text_of(const std::string& path) const {
    std::ifstream in{base_ / path};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  void put(const std::string& path, const std::string& text) {
    fs::create_directories((base_ / path).parent_path());
    std::ofstream{base_ / path} << text;
  }

  fs::path base_;
};

TEST_F(Trees, AreWrittenAsTheyWere) {
  const os::Fd top = directory("t");
  TreeWriter writer{top, Owners::ours};
  constexpr std::uint64_t kWhen = 1'000'000'000'000'000'000;
  ASSERT_TRUE(writer.take(
      ArchiveEntry{.path = "d", .type = ArchiveType::directory, .mode = 0750, .modified = kWhen}));
  ASSERT_TRUE(write(writer, "d/f", "text"));
  ASSERT_TRUE(write(writer, "made/on/the/way", "x"));
  ASSERT_TRUE(writer.take(link("l", "/etc/passwd")));
  ASSERT_TRUE(
      writer.take(ArchiveEntry{.path = "h", .type = ArchiveType::hard_link, .target = "d/f"}));
  ASSERT_TRUE(writer.take(ArchiveEntry{.path = "hole", .mode = 0600, .size = 4096}));
  ASSERT_TRUE(writer.end());
  EXPECT_EQ(text_of("t/d/f"), "text");
  EXPECT_EQ(text_of("t/made/on/the/way"), "x");
  EXPECT_EQ(fs::read_symlink(base_ / "t/l"), "/etc/passwd");
  EXPECT_TRUE(fs::equivalent(base_ / "t/h", base_ / "t/d/f"));
  EXPECT_EQ(fs::file_size(base_ / "t/hole"), 4096);
  struct stat about{};
  ASSERT_EQ(::stat((base_ / "t/d").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0750U);
  EXPECT_EQ(about.st_mtim.tv_sec, 1'000'000'000);
}

// Cordon-unpack lets none of these through; whoever speaks in its place does not get further.
TEST_F(Trees, NoLinkLeadsOutOfThem) {
  const os::Fd top = directory("t");
  put("out/kept", "of the host");
  TreeWriter writer{top, Owners::ours};
  ASSERT_TRUE(writer.take(link("l", (base_ / "out").string())));
  EXPECT_FALSE(write(writer, "l/new", "x"));
  EXPECT_FALSE(write(writer, "l/deeper/new", "x"));
  EXPECT_FALSE(writer.take(ArchiveEntry{.path = "l", .type = ArchiveType::directory}));
  EXPECT_FALSE(
      writer.take(ArchiveEntry{.path = "h", .type = ArchiveType::hard_link, .target = "l/kept"}));
  EXPECT_FALSE(write(writer, "../out/new", "x"));
  EXPECT_FALSE(write(writer, "l", "x")) << "nor over the link";
  EXPECT_EQ(text_of("out/kept"), "of the host");
  EXPECT_FALSE(fs::exists(base_ / "out/new"));
  EXPECT_FALSE(fs::exists(base_ / "out/deeper"));
}

TEST_F(Trees, LieOverOneAnother) {
  const os::Fd root = directory("root");
  put("one/etc/old", "old");
  put("one/etc/kept", "kept");
  put("one/opt/full/a", "a");
  put("one/was/a/tree", "x");
  put("one/is", "a file");
  put("two/etc/.wh.old", "");
  put("two/etc/new", "new");
  put("two/opt/full/.wh..wh..opq", "");
  put("two/opt/full/b", "b");
  put("two/was", "a file now");
  put("two/is/a/tree", "now");
  for (const char* layer : {"one", "two"}) {
    const auto done = put_over(root, directory(layer), Owners::ours);
    ASSERT_TRUE(done) << done.error().text();
  }
  EXPECT_FALSE(fs::exists(base_ / "root/etc/old"));
  EXPECT_FALSE(fs::exists(base_ / "root/etc/.wh.old"));
  EXPECT_EQ(text_of("root/etc/kept"), "kept");
  EXPECT_EQ(text_of("root/etc/new"), "new");
  EXPECT_FALSE(fs::exists(base_ / "root/opt/full/a"));
  EXPECT_EQ(text_of("root/opt/full/b"), "b");
  EXPECT_EQ(text_of("root/was"), "a file now");
  EXPECT_EQ(text_of("root/is/a/tree"), "now");
  EXPECT_TRUE(fs::equivalent(base_ / "root/etc/kept", base_ / "one/etc/kept"))
      << "nothing is copied";
  EXPECT_EQ(text_of("one/etc/old"), "old") << "a layer stays as it is";
}

TEST_F(Trees, AWhiteoutTakesOnlyWhatIsBelow) {
  const os::Fd root = directory("root");
  put("out", "of the host");
  put("one/x", "1");
  put("one/l", "");
  fs::remove(base_ / "one/l");
  fs::create_symlink(base_ / "out", base_ / "one/l");
  put("two/.wh...", "");
  put("two/.wh.", "");
  put("two/.wh.x", "");
  put("two/x", "again");
  put("two/.wh.l", "");
  for (const char* layer : {"one", "two"})
    ASSERT_TRUE(put_over(root, directory(layer), Owners::ours));
  EXPECT_EQ(text_of("root/x"), "again");
  EXPECT_FALSE(fs::is_symlink(base_ / "root/l"));
  EXPECT_EQ(text_of("out"), "of the host") << "the link went, not what it leads to";
}

}  // namespace
}  // namespace cordon::image
