// SPDX-License-Identifier: Apache-2.0
// File acts: what they do, and what they refuse to wait for.
#include "guest/file_act.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "guest/directory.h"
#include "os/file.h"
#include "os/test_support.h"

namespace cordon::guest {
namespace {

using frame::FileAct;
using frame::FileReply;
using frame::FileType;

class FileActs : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (dir_.path() / name).string(); }
  FileReply read(const std::string& path, std::uint64_t offset = 0, std::uint32_t count = 100) {
    return act({.act = FileAct::read, .path = path, .offset = offset, .count = count});
  }
  FileReply write(const std::string& path, std::string bytes, std::uint64_t offset = 0,
                  bool truncate = false) {
    return act({.act = FileAct::write,
                .path = path,
                .offset = offset,
                .count = truncate ? 1U : 0U,
                .bytes = std::move(bytes)});
  }
  os::TempDir dir_;
};

TEST_F(FileActs, WritesAndReadsParts) {
  EXPECT_EQ(write(at("f"), "hello").error_number, 0);
  EXPECT_EQ(write(at("f"), "J", 0).error_number, 0);
  EXPECT_EQ(read(at("f")).bytes, "Jello");
  EXPECT_EQ(read(at("f"), 3, 1).bytes, "l");
  EXPECT_EQ(read(at("f"), 9).bytes, "");
  EXPECT_EQ(write(at("f"), "x", 0, true).error_number, 0);
  EXPECT_EQ(read(at("f")).bytes, "x");
  EXPECT_EQ(read(at("f"), 0, 0xffffffff).bytes, "x");
}

TEST_F(FileActs, NeverWaitsForAFifoAndReadsNoDevice) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read(at("fifo")).error_number, EINVAL);
  EXPECT_EQ(write(at("fifo"), "x").error_number, ENXIO);
  ASSERT_EQ(::symlink("/dev/zero", at("zero").c_str()), 0);
  EXPECT_EQ(read(at("zero")).error_number, EINVAL);
  EXPECT_EQ(read(dir_.path().string()).error_number, EISDIR);
}

TEST_F(FileActs, FollowsLinksToReadAndTellsOfThemOtherwise) {
  ASSERT_EQ(write(at("f"), "text").error_number, 0);
  ASSERT_EQ(::symlink("f", at("link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", at("dangling").c_str()), 0);
  EXPECT_EQ(read(at("link")).bytes, "text");
  EXPECT_EQ(read(at("dangling")).error_number, ENOENT);
  const FileReply stat = act({.act = FileAct::stat, .path = at("link")});
  ASSERT_EQ(stat.entries.size(), 1U);
  EXPECT_EQ(stat.entries[0].type, FileType::link);
  EXPECT_EQ(stat.entries[0].target, "f");
  EXPECT_EQ(stat.entries[0].name, "link");
}

TEST_F(FileActs, ListsInPages) {
  for (int i = 0; i < 2500; ++i) {
    std::ofstream{at("n" + std::to_string(10'000 + i))};
  }
  std::string after;
  std::size_t count = 0;
  for (int page = 0; page < 3; ++page) {
    const FileReply reply =
        act({.act = FileAct::list, .path = dir_.path().string(), .bytes = after});
    ASSERT_EQ(reply.error_number, 0);
    ASSERT_FALSE(reply.entries.empty());
    EXPECT_EQ(reply.more, page < 2);
    count += reply.entries.size();
    EXPECT_GT(reply.entries.front().name, after);
    after = reply.entries.back().name;
  }
  EXPECT_EQ(count, 2500U);
}

TEST_F(FileActs, MakesRenamesAndRemovesTreesWithoutFollowingLinks) {
  ASSERT_EQ(write(at("kept"), "x").error_number, 0);
  EXPECT_EQ(act({.act = FileAct::make_directory, .path = at("d")}).error_number, 0);
  EXPECT_EQ(act({.act = FileAct::make_directory, .path = at("d")}).error_number, EEXIST);
  std::string deep = at("d");
  for (int i = 0; i < 30; ++i) {
    deep += "/e";
    ASSERT_EQ(act({.act = FileAct::make_directory, .path = deep}).error_number, 0);
    ASSERT_EQ(write(deep + "/file", "x").error_number, 0);
  }
  ASSERT_EQ(::symlink(dir_.path().c_str(), (at("d") + "/up").c_str()), 0);
  EXPECT_EQ(act({.act = FileAct::rename, .path = at("d"), .bytes = at("moved")}).error_number, 0);
  EXPECT_EQ(act({.act = FileAct::remove, .path = at("moved")}).error_number, 0);
  EXPECT_FALSE(std::filesystem::exists(at("moved")));
  EXPECT_EQ(read(at("kept")).bytes, "x");
  EXPECT_EQ(act({.act = FileAct::remove, .path = at("moved")}).error_number, ENOENT);
}

TEST_F(FileActs, RefusesPathsThatAreNotAbsolute) {
  EXPECT_EQ(read("etc/passwd").error_number, EINVAL);
  EXPECT_EQ(read("").error_number, EINVAL);
  EXPECT_EQ(read(std::string("/etc\0/passwd", 12)).error_number, EINVAL);
  EXPECT_EQ(act({.act = FileAct::rename, .path = at("f"), .bytes = "g"}).error_number, EINVAL);
}

TEST_F(FileActs, TellsOfTheFileWithWhatItReadsAndWrites) {
  const FileReply written = write(at("f"), "hello");
  ASSERT_EQ(written.entries.size(), 1U);
  const FileReply got = read(at("f"), 1, 2);
  ASSERT_EQ(got.entries.size(), 1U);
  EXPECT_EQ(got.bytes, "el");
  EXPECT_EQ(got.entries[0].size, 5U);
  EXPECT_EQ(got.entries[0].user, ::getuid());
  EXPECT_EQ(got.entries[0].group, ::getgid());
  EXPECT_EQ(got.entries[0].inode, written.entries[0].inode);
  // Another file under the same name: who reads in parts can tell.
  ASSERT_EQ(write(at("g"), "other").error_number, 0);
  ASSERT_EQ(act({.act = FileAct::rename, .path = at("g"), .bytes = at("f")}).error_number, 0);
  EXPECT_NE(read(at("f")).entries.at(0).inode, got.entries[0].inode);
}

TEST_F(FileActs, MakesWhatIsMissingAboveOnlyWhereItIsAskedTo) {
  const std::string deep = at("a//b/c/f");
  EXPECT_EQ(write(deep, "x").error_number, ENOENT);
  EXPECT_EQ(act({.act = FileAct::write, .path = deep, .bytes = "x", .parents = true}).error_number,
            0);
  EXPECT_EQ(read(at("a/b/c/f")).bytes, "x");
  EXPECT_EQ(act({.act = FileAct::make_directory, .path = at("d/e"), .parents = false}).error_number,
            ENOENT);
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_EQ(
        act({.act = FileAct::make_directory, .path = at("d/e/"), .mode = 0700, .parents = true})
            .error_number,
        0);
  }
  EXPECT_EQ(act({.act = FileAct::stat, .path = at("d/e")}).entries.at(0).mode, 0700U);
  EXPECT_EQ(act({.act = FileAct::stat, .path = at("d")}).entries.at(0).mode, 0755U);
  // Not through a file, and not in the place of a link that leads nowhere.
  EXPECT_EQ(
      act({.act = FileAct::make_directory, .path = at("a/b/c/f/g"), .parents = true}).error_number,
      ENOTDIR);
  ASSERT_EQ(::symlink("nowhere", at("dangling").c_str()), 0);
  EXPECT_EQ(
      act({.act = FileAct::make_directory, .path = at("dangling/g"), .parents = true}).error_number,
      ENOENT);
  EXPECT_EQ(act({.act = FileAct::rename, .path = at("a"), .bytes = at("h/i/a"), .parents = true})
                .error_number,
            0);
  EXPECT_EQ(read(at("h/i/a/b/c/f")).bytes, "x");
}

TEST_F(FileActs, SetsModesAndTimes) {
  constexpr std::uint64_t kThen = 1'234'567'890'123'456'789;
  EXPECT_EQ(
      act({.act = FileAct::write, .path = at("f"), .bytes = "x", .mode = 0751, .modified = kThen})
          .error_number,
      0);
  frame::FileEntry told = act({.act = FileAct::stat, .path = at("f")}).entries.at(0);
  EXPECT_EQ(told.mode, 0751U);
  EXPECT_EQ(told.modified, kThen);
  EXPECT_EQ(act({.act = FileAct::change, .path = at("f"), .mode = 0600}).error_number, 0);
  told = act({.act = FileAct::stat, .path = at("f")}).entries.at(0);
  EXPECT_EQ(told.mode, 0600U);
  EXPECT_EQ(told.modified, kThen);
  ASSERT_EQ(::symlink("f", at("link").c_str()), 0);
  EXPECT_EQ(act({.act = FileAct::change, .path = at("link"), .mode = 0777}).error_number,
            EOPNOTSUPP);
  EXPECT_EQ(act({.act = FileAct::change, .path = at("link"), .modified = 7}).error_number, 0);
  EXPECT_EQ(act({.act = FileAct::stat, .path = at("f")}).entries.at(0).modified, kThen);
  EXPECT_EQ(act({.act = FileAct::stat, .path = at("link")}).entries.at(0).modified, 7U);
}

TEST_F(FileActs, ReplacesNothingWhereItIsAskedNotTo) {
  ASSERT_EQ(write(at("f"), "old").error_number, 0);
  ASSERT_EQ(write(at("g"), "new").error_number, 0);
  EXPECT_EQ(
      act({.act = FileAct::write, .path = at("f"), .bytes = "new", .exclusive = true}).error_number,
      EEXIST);
  EXPECT_EQ(act({.act = FileAct::rename, .path = at("g"), .bytes = at("f"), .exclusive = true})
                .error_number,
            EEXIST);
  EXPECT_EQ(read(at("f")).bytes, "old");
  EXPECT_EQ(act({.act = FileAct::rename, .path = at("g"), .bytes = at("f")}).error_number, 0);
  EXPECT_EQ(read(at("f")).bytes, "new");
}

TEST_F(FileActs, MakesLinksAndTellsOfTheirTargets) {
  ASSERT_EQ(write(at("f"), "text").error_number, 0);
  EXPECT_EQ(act({.act = FileAct::make_link, .path = at("d/link"), .bytes = "../f", .parents = true})
                .error_number,
            0);
  EXPECT_EQ(act({.act = FileAct::make_link, .path = at("d/link"), .bytes = "x"}).error_number,
            EEXIST);
  EXPECT_EQ(read(at("d/link")).bytes, "text");
  const FileReply followed = act({.act = FileAct::stat, .path = at("d/link"), .follow = true});
  ASSERT_EQ(followed.entries.size(), 1U);
  EXPECT_EQ(followed.entries[0].type, FileType::file);
  EXPECT_EQ(followed.entries[0].size, 4U);
}

TEST_F(FileActs, RemovesOneEntryOrATreeInPieces) {
  ASSERT_EQ(
      act({.act = FileAct::write, .path = at("d/f"), .bytes = "x", .parents = true}).error_number,
      0);
  EXPECT_EQ(act({.act = FileAct::remove, .path = at("d"), .count = 1}).error_number, ENOTEMPTY);
  EXPECT_EQ(act({.act = FileAct::remove, .path = at("d/f"), .count = 1}).error_number, 0);
  EXPECT_EQ(act({.act = FileAct::remove, .path = at("d/f"), .count = 1}).error_number, ENOENT);
  EXPECT_EQ(act({.act = FileAct::remove, .path = at("d"), .count = 1}).error_number, 0);
  const auto top = os::openat(os::at_cwd(), dir_.path().c_str(), O_PATH | O_DIRECTORY);
  ASSERT_TRUE(top);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(act({.act = FileAct::write, .path = at("t/u/" + std::to_string(i)), .parents = true})
                  .error_number,
              0);
  }
  int pieces = 1;
  for (auto more = remove_tree(*top, "t", 6); more && *more; more = remove_tree(*top, "t", 6)) {
    ++pieces;
  }
  EXPECT_GE(pieces, 4);
  EXPECT_FALSE(std::filesystem::exists(at("t")));
}

}  // namespace
}  // namespace cordon::guest
