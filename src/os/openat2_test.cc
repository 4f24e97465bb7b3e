// SPDX-License-Identifier: Apache-2.0
#include "os/openat2.h"

#include <cerrno>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

// outside/secret and, beside it, root/ with links of each kind. Every refusal below has its
// counter-arm: plain openat reaches the secret.
class OpenBeneath : public testing::Test {
 protected:
  void SetUp() override {
    const auto probe = open_beneath(dir_.fd(), ".");
    if (!probe && probe.error().cause().value() == ENOSYS) GTEST_SKIP() << "no openat2";
    ASSERT_EQ(::mkdirat(dir_.fd().get(), "root", 0700), 0);
    ASSERT_EQ(::mkdirat(dir_.fd().get(), "outside", 0700), 0);
    ASSERT_TRUE(create_file(dir_.fd(), "outside/secret", "secret", 0600));
    ASSERT_TRUE(create_file(dir_.fd(), "root/plain", "plain", 0600));
    const std::string absolute = (dir_.path() / "outside/secret").string();
    ASSERT_EQ(::symlinkat("../outside/secret", dir_.fd().get(), "root/relative"), 0);
    ASSERT_EQ(::symlinkat(absolute.c_str(), dir_.fd().get(), "root/absolute"), 0);
    ASSERT_EQ(::symlinkat("plain", dir_.fd().get(), "root/inward"), 0);
    ASSERT_EQ(::symlinkat("/plain", dir_.fd().get(), "root/rooted"), 0);
    auto root = openat(dir_.fd(), "root", O_PATH | O_DIRECTORY);
    ASSERT_TRUE(root);
    root_ = *std::move(root);
  }

  Result<std::string> read_plainly(const char* path) const { return read_file(root_, path); }
  Result<std::string> read_beneath(const char* path, Symlinks symlinks = Symlinks::inside) const {
    TRY(const Fd fd, open_beneath(root_, path, {.flags = O_RDONLY, .symlinks = symlinks}));
    return read_all(fd, 100);
  }

  TempDir dir_;
  Fd root_;
};

TEST_F(OpenBeneath, OpensWhatLiesBelow) {
  EXPECT_EQ(outcome(read_beneath("plain")), "ok");
  EXPECT_EQ(*read_beneath("inward"), "plain");
}

TEST_F(OpenBeneath, RefusesDotDotAboveTheRoot) {
  const auto inside = read_beneath("../outside/secret");
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().cause().value(), EXDEV);
  EXPECT_EQ(inside.error().text(), "../outside/secret: openat2: Invalid cross-device link");
  EXPECT_EQ(*read_plainly("../outside/secret"), "secret");
}

TEST_F(OpenBeneath, RefusesRelativeAndAbsoluteLinksThatLeadOut) {
  for (const char* link : {"relative", "absolute"}) {
    const auto inside = read_beneath(link);
    ASSERT_FALSE(inside) << link;
    EXPECT_EQ(inside.error().cause().value(), EXDEV) << link;
    EXPECT_EQ(*read_plainly(link), "secret") << link;
  }
}

TEST_F(OpenBeneath, RefusesAbsolutePaths) {
  const auto inside = read_beneath("/etc/passwd");
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code(), Errc::invalid);
  EXPECT_TRUE(read_plainly("/etc/passwd"));
}

TEST_F(OpenBeneath, RefusesEvenInwardLinksWhenNoneAreWanted) {
  const auto link = read_beneath("inward", Symlinks::refused);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().cause().value(), ELOOP);
  EXPECT_EQ(*read_beneath("plain", Symlinks::refused), "plain");
}

TEST_F(OpenBeneath, RefusesMagicLinksOfProc) {
  const auto self = openat(at_cwd(), "/proc/self", O_PATH);
  ASSERT_TRUE(self);
  const auto magic = open_beneath(*self, "exe", {.flags = O_RDONLY});
  ASSERT_FALSE(magic);
  EXPECT_EQ(magic.error().cause().value(), ELOOP);
  EXPECT_TRUE(openat(*self, "exe", O_RDONLY));
}

TEST_F(OpenBeneath, GivesAPathDescriptorByDefault) {
  const auto handle = open_beneath(root_, "plain");
  ASSERT_TRUE(handle);
  EXPECT_NE(::fcntl(handle->get(), F_GETFL) & O_PATH, 0);
  EXPECT_NE(::fcntl(handle->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(OpenBeneath, CreatesBelowWithTheModeGiven) {
  const auto made =
      open_beneath(root_, "new", {.flags = O_WRONLY | O_CREAT | O_EXCL, .mode = 0600});
  ASSERT_TRUE(made) << made.error().text();
  struct stat what{};
  ASSERT_EQ(::fstat(made->get(), &what), 0);
  EXPECT_EQ(what.st_mode & 07777U, 0600U);
}

TEST_F(OpenBeneath, InRootKeepsAbsoluteLinksInside) {
  const auto rooted = open_in_root(root_, "rooted", {.flags = O_RDONLY});
  ASSERT_TRUE(rooted) << rooted.error().text();
  EXPECT_EQ(*read_all(*rooted, 100), "plain");
  EXPECT_FALSE(open_beneath(root_, "rooted", {.flags = O_RDONLY}));
  EXPECT_FALSE(open_in_root(root_, "relative", {.flags = O_RDONLY})) << "there is no outside/";
}

}  // namespace
}  // namespace cordon::os
