// SPDX-License-Identifier: Apache-2.0
#include "os/mount.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/file.h"
#include "os/openat2.h"
#include "os/process.h"
#include "os/test_support.h"

namespace cordon::os {
namespace {

Result<Fd> new_tmpfs(const MountAttributes& attributes = {}) {
  TRY(const Fd context, fsopen("tmpfs"));
  TRY_DO(fsconfig_string(context, "size", "1m"));
  TRY_DO(fsconfig_create(context));
  return fsmount(context, attributes);
}

class Mount : public testing::Test {
 protected:
  void SetUp() override {
    const std::string said = in_child([] { return outcome(enter_own_namespaces()); });
    if (said != "ok") GTEST_SKIP() << "no mount namespace of our own: " << said;
  }

  // Runs `act` in namespaces of its own; what it mounts is gone with the child.
  template <class Act>
  std::string inside(Act act) {
    return in_child([&]() -> std::string {
      if (const auto done = enter_own_namespaces(); !done) return outcome(done);
      Result<std::string> said = act();
      return said ? *said : said.error().text();
    });
  }

  // Below the test's directory, but as the child's own mount namespace has it.
  Result<Fd> open_here(const char* path) const {
    TRY(const Fd dir, openat(at_cwd(), dir_.path().c_str(), O_PATH | O_DIRECTORY));
    return open_beneath(dir, path);
  }

  TempDir dir_;
};

TEST_F(Mount, NewFilesystemIsSeenOnlyWhereItIsMoved) {
  EXPECT_EQ(inside([&]() -> Result<std::string> {
              TRY(const Fd mount, new_tmpfs());
              TRY_DO(create_file(mount, "f", "inside", 0600));
              const bool before = ::access((dir_.path() / "f").c_str(), F_OK) == 0;
              TRY_DO(move_mount(mount, at_cwd(), dir_.path().c_str()));
              TRY(const std::string text, read_file(at_cwd(), (dir_.path() / "f").c_str()));
              return (before ? "seen too early " : "") + text;
            }),
            "inside");
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "f")) << "not in the test's own namespace";
}

TEST_F(Mount, AttributesAreHeld) {
  const auto write = [&](const MountAttributes& attributes) {
    return inside([&]() -> Result<std::string> {
      TRY(const Fd mount, new_tmpfs(attributes));
      return outcome(create_file(mount, "f", "", 0600));
    });
  };
  EXPECT_EQ(write({.read_only = true}), "f: openat: Read-only file system");
  EXPECT_EQ(write({.nosuid = true, .nodev = true, .noexec = true}), "ok");
}

TEST_F(Mount, ABindCopyCanBeMadeReadOnlyWhileTheOriginalStaysWritable) {
  ASSERT_TRUE(create_file(dir_.fd(), "f", "x", 0600));
  EXPECT_EQ(inside([&]() -> Result<std::string> {
              TRY(const Fd source, open_here("."));
              TRY(const Fd copy, open_tree(source));
              TRY_DO(mount_setattr(copy, {.read_only = true, .nosuid = true}));
              const std::string refused = outcome(create_file(copy, "g", "", 0600));
              TRY_DO(create_file(dir_.fd(), "g", "", 0600));
              return refused;
            }),
            "g: openat: Read-only file system");
}

TEST_F(Mount, AtimeChangesOnMountsOfOurOwnAndIsLockedOnOthers) {
  EXPECT_EQ(inside([&]() -> Result<std::string> {
              TRY(const Fd own, new_tmpfs());
              TRY_DO(mount_setattr(own, {.noatime = true}));
              TRY(const Fd source, open_here("."));
              TRY(const Fd foreign, open_tree(source));
              return std::string{mount_setattr(foreign, {.noatime = true}) ? "changed" : "locked"};
            }),
            "locked");
}

TEST_F(Mount, RefusesADescriptorOfAnotherMountNamespace) {
  EXPECT_EQ(inside([&]() -> Result<std::string> {
              const auto copy = open_tree(dir_.fd());
              return std::string{copy ? "ok" : std::to_string(copy.error().cause().value())};
            }),
            std::to_string(EINVAL));
}

TEST_F(Mount, MovesOverWhatADescriptorRefersTo) {
  ASSERT_EQ(::mkdirat(dir_.fd().get(), "target", 0700), 0);
  EXPECT_EQ(inside([&]() -> Result<std::string> {
              TRY(const Fd mount, new_tmpfs());
              TRY_DO(create_file(mount, "f", "over", 0600));
              TRY(const Fd onto, open_here("target"));
              TRY_DO(move_mount(mount, onto));
              return read_file(at_cwd(), (dir_.path() / "target/f").c_str());
            }),
            "over");
}

TEST_F(Mount, DetachTakesTheMountAway) {
  EXPECT_EQ(
      inside([&]() -> Result<std::string> {
        TRY(const Fd mount, new_tmpfs());
        TRY_DO(create_file(mount, "f", "", 0600));
        TRY_DO(move_mount(mount, at_cwd(), dir_.path().c_str()));
        TRY_DO(umount_detach(dir_.path().c_str()));
        return std::string{::access((dir_.path() / "f").c_str(), F_OK) == 0 ? "there" : "gone"};
      }),
      "gone");
  const auto none = umount_detach((dir_.path() / "absent").c_str());
  EXPECT_FALSE(none);
}

TEST_F(Mount, PivotMakesTheNewRootTheOnlyOne) {
  EXPECT_EQ(inside([&]() -> Result<std::string> {
              TRY(const Fd root, new_tmpfs());
              TRY_DO(create_file(root, "marker", "new root", 0600));
              TRY_DO(move_mount(root, at_cwd(), dir_.path().c_str()));
              TRY_DO(fchdir(root));
              TRY_DO(pivot_root(".", "."));
              TRY_DO(umount_detach("."));
              if (::access("/etc", F_OK) == 0) return std::string{"still the old root"};
              return read_file(at_cwd(), "/marker");
            }),
            "new root");
}

TEST_F(Mount, ErrorsCarryWhatTheKernelWroteAboutThem) {
  const std::string said = inside([&]() -> Result<std::string> {
    TRY(const Fd context, fsopen("tmpfs"));
    return outcome(fsconfig_string(context, "no_such_option", "1"));
  });
  EXPECT_EQ(said,
            "e tmpfs: Unknown parameter 'no_such_option': no_such_option: fsconfig: "
            "Invalid argument");
}

TEST_F(Mount, UnknownFilesystemIsNamed) {
  EXPECT_EQ(outcome(fsopen("no_such_filesystem")).substr(0, 26), "no_such_filesystem: fsopen");
}

TEST_F(Mount, PropagationIsChangedToWhatIsAsked) {
  EXPECT_EQ(inside([&]() -> Result<std::string> {
              TRY(const Fd mount, new_tmpfs());
              TRY_DO(move_mount(mount, at_cwd(), dir_.path().c_str()));
              TRY_DO(set_propagation(at_cwd(), dir_.path().c_str(), Propagation::unbindable));
              const auto copy = open_tree(at_cwd(), dir_.path().c_str(), Reach::one);
              TRY_DO(set_propagation(at_cwd(), dir_.path().c_str(), Propagation::private_));
              TRY_DO(open_tree(at_cwd(), dir_.path().c_str(), Reach::one));
              return std::string{copy ? "bound" : "unbindable"};
            }),
            "unbindable");
}

// Needs rights over the filesystem itself, hence root outside of any user namespace of ours.
TEST_F(Mount, IdmappedMountShowsFilesUnderMappedIds) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs CAP_SYS_ADMIN over the filesystem: not root";
  auto owner = Child::start({.namespaces = Ns::user}, [] {
    while (true) ::pause();
    return 0;
  });
  ASSERT_TRUE(owner);
  constexpr std::array kRanges{IdRange{0, 100000, 1000}};
  ASSERT_TRUE(write_uid_map(owner->pid(), kRanges));
  ASSERT_TRUE(write_gid_map(owner->pid(), kRanges));
  const auto users = open_ns(Ns::user, owner->pid());
  ASSERT_TRUE(users);
  const std::string said = in_child([&]() -> std::string {
    if (const auto done = unshare(Ns::mount); !done) return outcome(done);
    const auto mount = new_tmpfs();
    if (!mount) return outcome(mount);
    const auto made = create_file(*mount, "f", "", 0600);
    if (!made) return outcome(made);
    const auto copy = open_tree(*mount, Reach::one);
    if (!copy) return outcome(copy);
    if (const auto done = idmap_mount(*copy, *users); !done) return outcome(done);
    struct stat plain{};
    struct stat mapped{};
    ::fstatat(mount->get(), "f", &plain, 0);
    ::fstatat(copy->get(), "f", &mapped, 0);
    return std::to_string(plain.st_uid) + " " + std::to_string(mapped.st_uid);
  });
  if (said.ends_with("Invalid argument")) GTEST_SKIP() << "tmpfs cannot be idmapped: " << said;
  EXPECT_EQ(said, "0 100000");
}

}  // namespace
}  // namespace cordon::os
