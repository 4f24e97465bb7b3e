// SPDX-License-Identifier: Apache-2.0
#include "files/tree_server.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/test_support.h"

namespace cordon::files {
namespace {

namespace fs = std::filesystem;

// NOLINTBEGIN(bugprone-unchecked-optional-access): asserted
// A guest's kernel in front of a directory.
class Kernel {
 public:
  explicit Kernel(const fs::path& root, SetIds set_ids = SetIds::refused,
                  std::uint64_t believed = kBelieved)
      : tree_{*os::openat(os::at_cwd(), root.c_str(), O_PATH | O_DIRECTORY), set_ids, believed} {}

  // An errno; the answer is in `reply` then.
  template <class... Parts>
  int ask(std::uint32_t opcode, NodeId node, const Parts&... parts) {
    std::vector<std::byte> bytes(sizeof(fuse_in_header));
    (add(bytes, parts), ...);
    fuse_in_header head{};
    head.len = static_cast<std::uint32_t>(bytes.size());
    head.opcode = opcode;
    head.nodeid = node;
    std::memcpy(bytes.data(), &head, sizeof head);
    RequestCutter cutter;
    cutter.push(bytes);
    auto request = cutter.next();
    EXPECT_TRUE(request && *request);
    Reply out;
    const auto error = tree_.answer(**request, out);
    const auto framed = out.finish(1, error.value_or(0));
    reply.assign(framed.begin() + sizeof(fuse_out_header), framed.end());
    return error.value_or(-1);
  }

  template <class Fixed>
  Fixed answer(std::size_t at = 0) const {
    Fixed value{};
    EXPECT_GE(reply.size(), at + sizeof value);
    if (reply.size() >= at + sizeof value) std::memcpy(&value, reply.data() + at, sizeof value);
    return value;
  }

  NodeId look_up(NodeId parent, const std::string& name) {
    return ask(FUSE_LOOKUP, parent, name) == 0 ? answer<fuse_entry_out>().nodeid : 0;
  }
  std::uint64_t open(NodeId node, int flags) {
    fuse_open_in how{};
    how.flags = static_cast<std::uint32_t>(flags);
    return ask(FUSE_OPEN, node, how) == 0 ? answer<fuse_open_out>().fh : 0;
  }
  std::string read(std::uint64_t handle, std::uint32_t size) {
    fuse_read_in how{};
    how.fh = handle;
    how.size = size;
    if (ask(FUSE_READ, 0, how) != 0) return "?";
    return {reinterpret_cast<const char*>(reply.data()), reply.size()};
  }

  TreeServer& tree() { return tree_; }
  std::vector<std::byte> reply;

 private:
  static void add(std::vector<std::byte>& bytes, const std::string& text) {
    const auto* const raw = reinterpret_cast<const std::byte*>(text.c_str());
    bytes.insert(bytes.end(), raw, raw + text.size() + 1);
  }
  template <class Fixed>
  static void add(std::vector<std::byte>& bytes, const Fixed& value) {
    const auto* const raw = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  }

  TreeServer tree_;
};

class Tree : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream{root() / name} << text;
  }
  fs::path root() const { return fs::path{directory_.path()} / "tree"; }
  void SetUp() override {
    fs::create_directories(root());
    std::ofstream{fs::path{directory_.path()} / "outside"} << "secret";
  }

 private:
  os::TempDir directory_;
};

TEST_F(Tree, IsReadAndWritten) {
  write("f", "abc");
  Kernel kernel{root()};
  const NodeId file = kernel.look_up(kRoot, "f");
  ASSERT_NE(file, 0U);
  EXPECT_EQ(kernel.answer<fuse_entry_out>().attr.size, 3U);
  const std::uint64_t handle = kernel.open(file, O_RDWR);
  ASSERT_NE(handle, 0U);
  EXPECT_EQ(kernel.read(handle, 100), "abc");
  fuse_write_in how{};
  how.fh = handle;
  how.offset = 1;
  how.size = 2;
  EXPECT_EQ(kernel.ask(FUSE_WRITE, file, how, std::string{"XY"}), 0);
  EXPECT_EQ(kernel.answer<fuse_write_out>().size, 2U);
  EXPECT_EQ(kernel.read(handle, 100), "aXY");
}

// Else a machine that was saved with one tree would take another file of the next for its /dev.
TEST_F(Tree, NumbersDevAndProcAsEveryTreeDoes) {
  for (const char* const name : {"proc", "a", "dev"}) fs::create_directory(root() / name);
  Kernel one{root()};
  const NodeId dev = one.look_up(kRoot, "dev");
  const NodeId proc = one.look_up(kRoot, "proc");
  Kernel other{root()};
  const NodeId beside = other.look_up(kRoot, "a");
  EXPECT_EQ(other.look_up(kRoot, "proc"), proc);
  EXPECT_EQ(other.look_up(kRoot, "dev"), dev);
  EXPECT_TRUE(beside != dev && beside != proc && dev != proc);
  Kernel again{root()};
  EXPECT_EQ(again.look_up(kRoot, "a"), beside) << "of all else the first that is asked for is next";
}

// What a machine was told before it was saved it asks again: then it has another tree.
TEST_F(Tree, IsNotBelievedByWhoWillBeSaved) {
  fs::create_directory(root() / "dev");
  const auto valid_for = [&](std::uint64_t believed) {
    Kernel kernel{root(), SetIds::refused, believed};
    EXPECT_NE(kernel.look_up(kRoot, "dev"), 0U);
    const std::uint64_t entry = kernel.answer<fuse_entry_out>().entry_valid;
    EXPECT_EQ(kernel.answer<fuse_entry_out>().attr_valid, entry);
    EXPECT_EQ(kernel.ask(FUSE_GETATTR, kRoot, fuse_getattr_in{}), 0);
    EXPECT_EQ(kernel.answer<fuse_attr_out>().attr_valid, entry);
    return entry;
  };
  EXPECT_EQ(valid_for(0), 0U);
  EXPECT_EQ(valid_for(kBelieved), kBelieved) << "the counter-arm";
}

TEST_F(Tree, IsNotLeftByAnyName) {
  fs::create_symlink("..", root() / "up");
  fs::create_symlink(root().parent_path() / "outside", root() / "out");
  Kernel kernel{root()};
  for (const char* name : {"..", ".", "", "a/b", "../outside", "/etc"}) {
    EXPECT_EQ(kernel.ask(FUSE_LOOKUP, kRoot, std::string{name}), EINVAL) << name;
  }
  // A link is a node of its own, which the guest follows by itself; nothing lies below it here.
  const NodeId up = kernel.look_up(kRoot, "up");
  ASSERT_NE(up, 0U);
  EXPECT_TRUE(S_ISLNK(kernel.answer<fuse_entry_out>().attr.mode));
  EXPECT_NE(kernel.ask(FUSE_LOOKUP, up, std::string{"outside"}), 0);
  const NodeId out = kernel.look_up(kRoot, "out");
  ASSERT_NE(out, 0U);
  EXPECT_EQ(kernel.open(out, O_RDONLY), 0U);
  // The counter-arm: the same name is found where the tree is one directory wider.
  Kernel wider{root().parent_path()};
  EXPECT_NE(wider.look_up(kRoot, "outside"), 0U);
}

TEST_F(Tree, DoesNotFollowALinkThatSomebodyPutInItsPlace) {
  fs::create_directory(root() / "d");
  write("d/f", "inside");
  Kernel kernel{root()};
  const NodeId directory = kernel.look_up(kRoot, "d");
  const NodeId file = kernel.look_up(directory, "f");
  ASSERT_NE(file, 0U);
  fs::rename(root() / "d", root() / "e");
  fs::create_directory(root().parent_path() / "elsewhere");
  std::ofstream{root().parent_path() / "elsewhere/f"} << "secret";
  fs::create_directory_symlink("../elsewhere", root() / "d");
  EXPECT_EQ(kernel.open(file, O_RDONLY), 0U);
}

TEST_F(Tree, MakesNoDevices) {
  Kernel kernel{root()};
  fuse_mknod_in how{};
  how.mode = S_IFCHR | 0666;
  how.rdev = 0x103;
  EXPECT_EQ(kernel.ask(FUSE_MKNOD, kRoot, how, std::string{"null"}), EPERM);
  how.mode = S_IFIFO | 0666;
  EXPECT_EQ(kernel.ask(FUSE_MKNOD, kRoot, how, std::string{"pipe"}), 0);
}

TEST_F(Tree, SetsIdsWhereNothingOutlivesIt) {
  write("f", "abc");
  Kernel kernel{root(), SetIds::kept};
  fuse_setattr_in how{};
  how.valid = FATTR_MODE;
  how.mode = S_IFREG | 04755;
  EXPECT_EQ(kernel.ask(FUSE_SETATTR, kernel.look_up(kRoot, "f"), how), 0);
  EXPECT_EQ(kernel.answer<fuse_attr_out>().attr.mode & 07777U, 04755U);
}

TEST_F(Tree, SetsNoIds) {
  write("f", "abc");
  Kernel kernel{root()};
  fuse_setattr_in how{};
  how.valid = FATTR_MODE;
  how.mode = S_IFREG | 04755;
  const NodeId file = kernel.look_up(kRoot, "f");
  EXPECT_EQ(kernel.ask(FUSE_SETATTR, file, how), EPERM);
  how.mode = S_IFREG | 0755;
  EXPECT_EQ(kernel.ask(FUSE_SETATTR, file, how), 0);
  fuse_create_in made{};
  made.flags = O_WRONLY;
  made.mode = S_IFREG | 06755;
  EXPECT_EQ(kernel.ask(FUSE_CREATE, kRoot, made, std::string{"g"}), 0);
  EXPECT_EQ(kernel.answer<fuse_entry_out>().attr.mode & 07000U, 0U);
}

TEST_F(Tree, KeepsWhatIsOpenAndHasNoNameAnyMore) {
  write("f", "abc");
  Kernel kernel{root()};
  const NodeId file = kernel.look_up(kRoot, "f");
  const std::uint64_t handle = kernel.open(file, O_RDONLY);
  ASSERT_NE(handle, 0U);
  EXPECT_EQ(kernel.ask(FUSE_UNLINK, kRoot, std::string{"f"}), 0);
  EXPECT_EQ(kernel.read(handle, 3), "abc");
  EXPECT_EQ(kernel.ask(FUSE_GETATTR, file, fuse_getattr_in{}), 0);
  EXPECT_EQ(kernel.answer<fuse_attr_out>().attr.nlink, 0U);
  fuse_release_in end{};
  end.fh = handle;
  EXPECT_EQ(kernel.ask(FUSE_RELEASE, file, end), 0);
  EXPECT_EQ(kernel.ask(FUSE_GETATTR, file, fuse_getattr_in{}), ENOENT);
}

TEST_F(Tree, FollowsADirectoryThatIsMoved) {
  fs::create_directories(root() / "a/b");
  write("a/b/f", "abc");
  Kernel kernel{root()};
  const NodeId b = kernel.look_up(kernel.look_up(kRoot, "a"), "b");
  const NodeId file = kernel.look_up(b, "f");
  fuse_rename2_in how{};
  how.newdir = kRoot;
  EXPECT_EQ(
      kernel.ask(FUSE_RENAME2, kernel.look_up(kRoot, "a"), how, std::string{"b"}, std::string{"c"}),
      0);
  EXPECT_NE(kernel.open(file, O_RDONLY), 0U);
  EXPECT_TRUE(fs::exists(root() / "c/f"));
}

TEST_F(Tree, TakesAnotherFileOfTheSameNameForAnotherOne) {
  write("f", "abc");
  Kernel kernel{root()};
  const NodeId first = kernel.look_up(kRoot, "f");
  EXPECT_EQ(kernel.look_up(kRoot, "f"), first);
  write("g", "xyz");
  fs::rename(root() / "g", root() / "f");
  EXPECT_NE(kernel.look_up(kRoot, "f"), first);
}

TEST_F(Tree, ForgetsWhatItIsToldToForget) {
  write("f", "abc");
  Kernel kernel{root()};
  const NodeId file = kernel.look_up(kRoot, "f");
  EXPECT_EQ(kernel.tree().known(), 2U);
  EXPECT_EQ(kernel.ask(FUSE_FORGET, file, fuse_forget_in{.nlookup = 1}), -1);
  EXPECT_EQ(kernel.tree().known(), 1U);
  EXPECT_EQ(kernel.open(file, O_RDONLY), 0U);
}

TEST_F(Tree, ListsADirectoryInPieces) {
  for (int number = 0; number < 200; ++number) write("file" + std::to_string(number), "");
  Kernel kernel{root()};
  ASSERT_EQ(kernel.ask(FUSE_OPENDIR, kRoot, fuse_open_in{}), 0);
  fuse_read_in how{};
  how.fh = kernel.answer<fuse_open_out>().fh;
  how.size = 2048;
  std::size_t count = 0;
  for (;;) {
    ASSERT_EQ(kernel.ask(FUSE_READDIR, kRoot, how), 0);
    if (kernel.reply.empty()) break;
    for (std::size_t at = 0; at < kernel.reply.size(); ++count) {
      const auto entry = kernel.answer<fuse_dirent>(at);
      how.offset = entry.off;
      at += (sizeof entry + entry.namelen + 7U) & ~std::size_t{7};
    }
  }
  EXPECT_EQ(count, 202U);  // with "." and ".."
}

TEST_F(Tree, RefusesARequestThatIsShorterThanItsKind) {
  Kernel kernel{root()};
  for (std::uint32_t opcode = 0; opcode < 60; ++opcode) {
    EXPECT_NE(kernel.ask(opcode, kRoot), EIO) << opcode;
  }
}

TEST(RequestCutter, EndsAtWhatNoKernelSends) {
  fuse_in_header head{};
  head.len = 8;
  RequestCutter cutter;
  cutter.push(std::as_bytes(std::span{&head, 1}));
  EXPECT_FALSE(cutter.next());
  head.len = kLongestRequest + 1;
  RequestCutter other;
  other.push(std::as_bytes(std::span{&head, 1}));
  EXPECT_FALSE(other.next());
}

// NOLINTEND(bugprone-unchecked-optional-access)

}  // namespace
}  // namespace cordon::files
