// SPDX-License-Identifier: Apache-2.0
// Upper layers as the kernel writes them: real overlays, mounted in a namespace of the test's own.
#include <random>
#include <set>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/directory.h"
#include "os/mount.h"
#include "os/namespace.h"
#include "os/random.h"
#include "review/fixture_test.h"
#include "review/remove_tree.h"

namespace cordon::review {
namespace {

class RootOverlay : public ReviewFixture {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "mounts as root";
  }

  // Runs `act` in the merged view of the workspace and the upper layer, as a sandbox would.
  template <class Act>
  std::string in_sandbox(Act act) {
    return os::in_child([&]() -> std::string {
      const auto merged = mount_overlay();
      if (!merged) return merged.error().text();
      std::error_code error;
      std::filesystem::current_path(os::proc_path(*merged), error);
      if (error) return error.message();
      try {
        act();
      } catch (const std::exception& failed) {
        return failed.what();
      }
      return "ok";
    });
  }

  Result<ApplyReport> apply_paths_that_exist(const std::set<std::string>& names) const {
    TRY(const auto found, changes());
    std::set<std::string> paths;
    for (const Change& change : found) {
      const std::string first = change.path.substr(0, change.path.find('/'));
      if (names.contains(first)) paths.insert(first);
    }
    if (paths.empty()) return ApplyReport{};
    return apply_paths({paths.begin(), paths.end()});
  }

  // Every entry below `top` with its type, permissions and contents.
  static std::string text_of_all(const std::filesystem::path& top) {
    std::set<std::string> entries;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{top}) {
      std::string text = entry.path().lexically_relative(top).string();
      struct stat status{};
      ::lstat(entry.path().c_str(), &status);
      text += " " + std::to_string(status.st_mode & ~07000U);
      if (entry.is_symlink()) {
        text += " " + std::filesystem::read_symlink(entry.path()).string();
      } else if (entry.is_regular_file()) {
        text += " " + read(entry.path());
      }
      entries.insert(text);
    }
    std::string all;
    for (const std::string& entry : entries) all += entry + "\n";
    return all;
  }

 private:
  Result<os::Fd> mount_overlay() const {
    TRY_DO(os::unshare(os::Ns::mount));
    TRY_DO(os::set_propagation(os::at_cwd(), "/", os::Propagation::private_));
    TRY(const os::Fd context, os::fsopen("overlay"));
    const auto run = upper().parent_path();
    TRY_DO(os::fsconfig_string(context, "lowerdir", workspace().c_str()));
    TRY_DO(os::fsconfig_string(context, "upperdir", (run / "upper").c_str()));
    TRY_DO(os::fsconfig_string(context, "workdir", (run / "work").c_str()));
    for (const char* const option : {"redirect_dir", "metacopy", "index", "xino"}) {
      TRY_DO(os::fsconfig_string(context, option, "off"));
    }
    TRY_DO(os::fsconfig_create(context));
    TRY(os::Fd mount, os::fsmount(context, {.nosuid = true, .nodev = true}));
    return mount;
  }
};

namespace fs = std::filesystem;

// Anything of a sandbox, told by numbers: a few names in a few directories meet often.
class RandomActs {
 public:
  explicit RandomActs(unsigned seed) : random_{seed} {}

  void one() {
    const fs::path path = any_path();
    std::error_code ignored;  // many acts do not fit what is there, as in life
    switch (random_() % 8) {
      case 0:
      case 1:
        fs::create_directories(path.parent_path(), ignored);
        std::ofstream{path} << random_();
        return;
      case 2:
        fs::remove(path, ignored);
        return;
      case 3:
        fs::remove_all(path, ignored);
        return;
      case 4:
        fs::create_directories(path, ignored);
        return;
      case 5:
        fs::rename(path, any_path(), ignored);
        return;
      case 6:
        fs::create_symlink("a", path, ignored);
        return;
      default:
        if (!fs::is_symlink(path, ignored)) {
          ::chmod(path.c_str(), fs::is_directory(path, ignored) ? 0711 : 0640);
        }
        return;
    }
  }

 private:
  fs::path any_path() {
    fs::path path;
    for (auto parts = 1 + random_() % 3; parts > 0; --parts) {
      path /= std::string(1, static_cast<char>('a' + random_() % 4));
    }
    return path;
  }

  std::mt19937 random_;
};

TEST_F(RootOverlay, EveryKindOfChangeIsReadAsTheKernelWritesIt) {
  for (const char* const name : {"kept", "edited", "gone", "tree/a/b", "again/old", "again/sub/old",
                                 "was-file", "was-dir/x", "opened"}) {
    put(workspace() / name, std::string{"old "} + name);
  }
  start(OverlayMarks::trusted);
  ASSERT_EQ(in_sandbox([] {
              put("edited", "new");
              fs::remove("gone");
              fs::remove_all("tree");
              fs::remove_all("again");
              put("again/sub/new", "new");
              fs::remove("was-file");
              put("was-file/x", "new");
              fs::remove_all("was-dir");
              put("was-dir", "new");
              put("new/deep/file", "new");
              fs::create_symlink("kept", "link");
              ::chmod("kept", 0600);
              ::mkfifo("pipe", 0600);
              const std::ofstream opened{"opened", std::ios::app};
            }),
            "ok");
  EXPECT_EQ(summary(),
            "D again/old\nD again/sub/old\nA again/sub/new\nM edited\nD gone\nP kept\nA link\n"
            "A new\nA new/deep\nA new/deep/file\nA pipe\nD tree\nT was-dir\nT was-file\n"
            "A was-file/x\n");
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_EQ(report->left.size(), 1U);
  EXPECT_EQ(report->left.front().path, "pipe");
  EXPECT_EQ(summary(), "A pipe\n");
}

TEST_F(RootOverlay, WhatTheSandboxSawIsWhatTheWorkspaceGets) {
  const std::string seen = (dir_.path() / "seen").string();
  for (unsigned round = 0; round < 20; ++round) {
    id_ = RunId::from_bytes(*os::random_bytes<10>());
    {
      const fs::path before = fs::current_path();
      fs::current_path(workspace());
      RandomActs acts{1000 + round};
      for (int i = 0; i < 30; ++i) acts.one();
      fs::current_path(before);
    }
    start(OverlayMarks::trusted);
    ASSERT_EQ(in_sandbox([&] {
                RandomActs acts{round};
                for (int i = 0; i < 60; ++i) acts.one();
                put(seen, text_of_all("."));
              }),
              "ok");
    const std::string changed = summary();
    // In two steps, so that half-applied states are met too.
    const auto first = apply_paths_that_exist({"a", "b"});
    ASSERT_TRUE(first) << first.error().text();
    if (std::filesystem::exists(upper())) {
      const auto rest = apply_all();
      ASSERT_TRUE(rest) << rest.error().text();
      ASSERT_TRUE(rest->removed) << "round " << round << ", left:\n" << summary();
    }
    ASSERT_EQ(text_of_all(workspace()), read(seen)) << "round " << round << "\n" << changed;
  }
}

TEST_F(RootOverlay, OwnersAreTheWorkspaces) {
  ASSERT_EQ(::chown(workspace().c_str(), 1234, 5678), 0);
  start(OverlayMarks::trusted);
  ASSERT_EQ(in_sandbox([] {
              put("d/f", "new");
              fs::create_symlink("x", "link");
            }),
            "ok");
  ASSERT_TRUE(apply_all());
  for (const char* const name : {"d", "d/f", "link"}) {
    struct stat status{};
    ASSERT_EQ(::lstat((workspace() / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_uid, 1234U) << name;
    EXPECT_EQ(status.st_gid, 5678U) << name;
  }
}

TEST_F(RootOverlay, DevicesAreLeftAndCapabilitiesAreNotCarriedOver) {
  start(OverlayMarks::trusted);
  ASSERT_EQ(::mknod((upper() / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)), 0);
  put(upper() / "tool", "");
  ASSERT_EQ(::chmod((upper() / "tool").c_str(), 0755), 0);
  // cap_net_raw+ep, revision 2.
  mark("tool", "security.capability",
       std::string_view{"\1\0\0\2\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20});
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_EQ(report->left.size(), 1U);
  EXPECT_EQ(report->left.front().reason, "a character device is never applied");
  const auto tool = os::openat(os::at_cwd(), (workspace() / "tool").c_str(), O_PATH);
  ASSERT_TRUE(tool);
  EXPECT_TRUE(os::list_xattr(*tool)->empty());
}

TEST_F(RootOverlay, ADiscardedRunTakesItsWorkDirectoryAlong) {
  start(OverlayMarks::trusted);
  ASSERT_EQ(in_sandbox([] { put("f", "new"); }), "ok");
  ASSERT_TRUE(fs::exists(upper().parent_path() / "work/work"));
  auto run = open();
  ASSERT_TRUE(run);
  const Status done = std::move(*run).remove();
  EXPECT_TRUE(done) << done.error().text();
  EXPECT_FALSE(fs::exists(upper().parent_path()));
}

// C249, in memory so that the disk has no part in it.
TEST_F(RootOverlay, RemovalNeitherRecursesNorKeepsDescriptorsNorEntersMounts) {
  EXPECT_EQ(
      os::in_child([&]() -> std::string {
        const auto done = [&]() -> Status {
          TRY_DO(os::unshare(os::Ns::mount));
          TRY_DO(os::set_propagation(os::at_cwd(), "/", os::Propagation::private_));
          TRY(const os::Fd context, os::fsopen("tmpfs"));
          TRY_DO(os::fsconfig_create(context));
          TRY(const os::Fd top, os::fsmount(context, {}));
          TRY_DO(os::move_mount(top, os::at_cwd(), workspace().c_str()));
          TRY_DO(os::mkdirat(top, "d", 0700));
          TRY(os::Fd at, os::openat(top, "d", O_RDONLY | O_DIRECTORY));
          for (int i = 1; i < 100'000; ++i) {
            TRY_DO(os::mkdirat(at, "d", i % 2 == 0 ? 0 : 0700));
            TRY(at, os::openat(at, "d", O_RDONLY | O_DIRECTORY));
          }
          at = os::Fd{};
          TRY_DO(remove_tree(top, "d"));
          // A mount inside the tree: named, and what is in it stays.
          fs::create_directories(workspace() / "t/sub/mounted");
          TRY(const os::Fd foreign, os::open_tree(os::at_cwd(), outside().c_str()));
          TRY_DO(os::move_mount(foreign, os::at_cwd(), (workspace() / "t/sub/mounted").c_str()));
          return remove_tree(top, "t");
        }();
        return done ? "removed" : done.error().text();
      }),
      "remove mounted: mounted: rmdir: Device or resource busy");
}

}  // namespace
}  // namespace cordon::review
