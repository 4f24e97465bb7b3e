// SPDX-License-Identifier: Apache-2.0
// Trees written and told in acts: what comes out is what went in, and nothing leaves its place.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "guest/tree_read.h"
#include "guest/tree_write.h"
#include "os/test_support.h"

namespace cordon::guest {
namespace {

namespace fs = std::filesystem;
using frame::ArchiveType;
using frame::FileReply;
using frame::TreePiece;

constexpr std::uint64_t kTime = 1'000'000'007'000'000'000;

class Trees : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return dir_.path() / name; }
  std::string text(const std::string& name) const {
    std::ifstream file{at(name), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  FileReply write(std::vector<TreePiece> pieces, std::string bytes = {},
                  const std::string& below = "t") {
    return write_tree({.path = at(below), .pieces = std::move(pieces), .bytes = std::move(bytes)});
  }
  static TreePiece file(std::string path, std::uint32_t count, std::uint64_t offset = 0,
                        std::uint64_t size = 0) {
    return {.entry = {.path = std::move(path),
                      .mode = 0640,
                      .size = size != 0 ? size : count,
                      .modified = kTime},
            .offset = offset,
            .count = count};
  }
  static TreePiece link(std::string path, std::string target,
                        ArchiveType type = ArchiveType::link) {
    return {.entry = {.path = std::move(path), .type = type, .target = std::move(target)}};
  }
  static TreePiece directory(std::string path, std::uint32_t mode = 0755) {
    return {.entry = {.path = std::move(path), .type = ArchiveType::directory, .mode = mode}};
  }
  // All of it, whichever way it is cut: contents by name.
  std::map<std::string, std::string> read(const std::string& below, int* acts = nullptr) {
    std::map<std::string, std::string> all;
    frame::ReadTree ask{.path = at(below)};
    for (bool more = true; more;) {
      const FileReply reply = read_tree(ask);
      EXPECT_EQ(reply.error_number, 0) << reply.bytes;
      if (reply.error_number != 0) break;
      if (acts != nullptr) ++*acts;
      std::string_view left{reply.bytes};
      for (const frame::FileEntry& entry : reply.entries) {
        std::string held{left.substr(0, entry.type == frame::FileType::file ? entry.size : 0)};
        left.remove_prefix(held.size());
        while (entry.type == frame::FileType::file && held.size() < entry.size) {
          const FileReply rest =
              read_tree({.path = at(below), .after = entry.name, .offset = held.size()});
          EXPECT_FALSE(rest.bytes.empty());
          if (rest.bytes.empty()) break;
          held += rest.bytes;
        }
        EXPECT_TRUE(all.emplace(entry.name, held + entry.target).second) << entry.name;
        ask.after = entry.name;
      }
      EXPECT_TRUE(left.empty());
      more = reply.more;
    }
    return all;
  }
  os::TempDir dir_;
};

TEST_F(Trees, WritesEveryKindAndTellsItAgain) {
  const FileReply done = write({directory("d", 0700), file("d/f", 4), link("l", "d/f"),
                                link("d/h", "d/f", ArchiveType::hard_link), file("a/b/c", 0)},
                               "text");
  ASSERT_EQ(done.error_number, 0) << done.bytes;
  EXPECT_EQ(text("t/d/h"), "text");
  struct stat facts{};
  ASSERT_EQ(::stat(at("t/d/f").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0640U);
  EXPECT_EQ(facts.st_nlink, 2U);
  EXPECT_EQ(facts.st_mtim.tv_sec, 1'000'000'007);
  const std::map<std::string, std::string> wanted{{"a", ""},   {"a/b", ""},     {"a/b/c", ""},
                                                  {"d", ""},   {"d/f", "text"}, {"d/h", "text"},
                                                  {"l", "d/f"}};
  EXPECT_EQ(read("t"), wanted);
  EXPECT_EQ(read("t/d/f"), (std::map<std::string, std::string>{{"f", "text"}}));
}

TEST_F(Trees, WritesAFileInPiecesWithHolesBetween) {
  ASSERT_EQ(write({file("f", 2, 0, 10)}, "ab").error_number, 0);
  EXPECT_EQ(text("t/f"), std::string("ab\0\0\0\0\0\0\0\0", 10));
  ASSERT_EQ(write({file("f", 2, 6, 10)}, "cd").error_number, 0);
  EXPECT_EQ(text("t/f"), std::string("ab\0\0\0\0cd\0\0", 10));
  TreePiece mode = file("f", 0, 10, 10);
  mode.entry.mode = 04444;
  ASSERT_EQ(write({mode}).error_number, 0);
  EXPECT_EQ(fs::status(at("t/f")).permissions(), fs::perms{0444}) << "and no set-id bit";
  EXPECT_EQ(write({file("g", 3)}, "ab").error_number, EINVAL) << "fewer bytes than it counts";
}

TEST_F(Trees, ReplacesWhatIsThereAndFollowsNoLink) {
  std::ofstream{at("outside")} << "kept";
  fs::create_directories(at("t/d"));
  fs::create_symlink(at("outside"), at("t/f"));
  fs::create_symlink(at("outside"), at("t/l"));
  ASSERT_EQ(write({file("f", 1), link("l", "f"), link("h", "f", ArchiveType::hard_link)}, "x")
                .error_number,
            0);
  EXPECT_EQ(text("outside"), "kept");
  EXPECT_EQ(text("t/f"), "x");
  EXPECT_FALSE(fs::is_symlink(at("t/f")));
  EXPECT_EQ(fs::read_symlink(at("t/l")), "f");
  const FileReply over = write({file("d", 1)}, "x");
  EXPECT_EQ(over.error_number, EISDIR) << "a directory does not give way";
  EXPECT_EQ(over.bytes, "d");
}

// Beside each refusal the same without the trick.
TEST_F(Trees, LeavesItsPlaceByNoName) {
  fs::create_directories(at("t"));
  fs::create_directories(at("outside"));
  fs::create_symlink("../outside", at("t/up"));
  fs::create_symlink(at("outside"), at("t/far"));
  fs::create_directories(at("t/in"));
  fs::create_symlink("in", at("t/near"));
  std::ofstream{at("outside/secret")} << "s";
  for (const std::string path : {"../x", "in/../../x", "up/x", "far/x", "near/x", "in/..", ".."}) {
    const FileReply reply = write({file(path, 0)});
    EXPECT_NE(reply.error_number, 0) << path;
    EXPECT_EQ(reply.bytes, path);
  }
  EXPECT_NE(write({directory("up")}).error_number, 0);
  EXPECT_NE(write({directory("far/d")}).error_number, 0);
  EXPECT_NE(write({link("far/l", "x")}).error_number, 0);
  EXPECT_NE(write({link("h", "far/secret", ArchiveType::hard_link)}).error_number, 0);
  EXPECT_NE(write({link("h", "../outside/secret", ArchiveType::hard_link)}).error_number, 0);
  EXPECT_NE(write({link("h", "near", ArchiveType::hard_link)}).error_number, 0) << "of a link";
  EXPECT_EQ(std::distance(fs::directory_iterator{at("outside")}, {}), 1);
  EXPECT_FALSE(fs::exists(at("x")));
  EXPECT_EQ(write({file("in/x", 0), link("h", "in/x", ArchiveType::hard_link)}).error_number, 0);
}

TEST_F(Trees, GoesOnWithNothingButAFile) {
  fs::create_directories(at("t"));
  std::ofstream{at("outside")} << "kept";
  fs::create_symlink(at("outside"), at("t/f"));
  ASSERT_EQ(::mkfifo(at("t/p").c_str(), 0600), 0);
  EXPECT_EQ(write({file("f", 1, 1)}, "x").error_number, ELOOP);
  EXPECT_EQ(write({file("p", 1, 1)}, "x").error_number, ENXIO);
  EXPECT_EQ(text("outside"), "kept");
}

TEST_F(Trees, IsHeldBeneath) {
  fs::create_directories(at("held/t"));
  fs::create_directories(at("other"));
  fs::create_symlink(at("other"), at("held/out"));
  frame::WriteTree tree{.path = at("held/t"), .beneath = at("held"), .pieces = {file("f", 0)}};
  EXPECT_EQ(write_tree(tree).error_number, 0);
  tree.path = at("held/out");
  EXPECT_EQ(write_tree(tree).error_number, EXDEV);
  tree.path = at("other");
  EXPECT_EQ(write_tree(tree).error_number, EXDEV);
  EXPECT_EQ(read_tree({.path = at("other"), .beneath = at("held")}).error_number, EXDEV);
  EXPECT_EQ(read_tree({.path = at("held/out"), .beneath = at("held")}).error_number, EXDEV);
  EXPECT_TRUE(fs::is_empty(at("other")));
  tree.beneath.clear();
  EXPECT_EQ(write_tree(tree).error_number, 0) << "without the bound";
}

TEST_F(Trees, TellsManyEntriesInParts) {
  std::map<std::string, std::string> wanted;
  for (int d = 0; d < 7; ++d) {
    const std::string directory = "d" + std::to_string(d);
    fs::create_directories(at("t/" + directory));
    wanted.emplace(directory, "");
    for (int f = 0; f < 700; ++f) {
      const std::string name = directory + "/f" + std::to_string(f);
      std::ofstream{at("t/" + name)} << name;
      wanted.emplace(name, name);
    }
  }
  // Names that sort before the slash, where a walk by whole paths would go astray.
  std::ofstream{at("t/d0!")} << "x";
  wanted.emplace("d0!", "x");
  int acts = 0;
  EXPECT_EQ(read("t", &acts), wanted);
  EXPECT_GT(acts, 2);
}

TEST_F(Trees, TellsFilesThatDoNotFit) {
  fs::create_directories(at("t"));
  std::map<std::string, std::string> wanted;
  for (const std::size_t size : {1U, 700'000U, 700'001U, 1'048'576U, 3'000'000U}) {
    const std::string name = std::to_string(size);
    wanted.emplace(name, std::string(size, static_cast<char>('a' + size % 17)));
    std::ofstream{at("t/" + name)} << wanted[name];
  }
  EXPECT_EQ(read("t"), wanted);
  EXPECT_EQ(read("t/3000000"), (std::map<std::string, std::string>{*wanted.find("3000000")}));
}

TEST_F(Trees, PassesOverWhatIsNoFileAndNeverWaits) {
  fs::create_directories(at("t"));
  ASSERT_EQ(::mkfifo(at("t/p").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", at("t/z"));
  EXPECT_EQ(read("t"), (std::map<std::string, std::string>{{"z", "/dev/zero"}}));
  EXPECT_EQ(read_tree({.path = at("t/p")}).error_number, EINVAL);
  EXPECT_EQ(read_tree({.path = at("t/z")}).error_number, EINVAL);
  EXPECT_EQ(read_tree({.path = at("t/none")}).error_number, ENOENT);
  EXPECT_EQ(read_tree({.path = at("t"), .after = "z", .offset = 1}).error_number, ELOOP);
}

}  // namespace
}  // namespace cordon::guest
