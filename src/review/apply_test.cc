// SPDX-License-Identifier: Apache-2.0
#include "review/apply.h"

#include <atomic>
#include <cstdio>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "os/random.h"
#include "review/fixture_test.h"

namespace cordon::review {
namespace {

class Apply : public ReviewFixture {
 protected:
  bool run_exists() const { return std::filesystem::exists(upper()); }
  std::string left(const Result<ApplyReport>& report) const {
    if (!report) return report.error().text();
    std::string text;
    for (const NotApplied& one : report->left) text += one.path + ": " + one.reason + "\n";
    return text;
  }
  // Nothing of ours stays behind in the workspace.
  std::size_t temporaries() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{workspace()}) {
      if (entry.path().filename().string().starts_with(".cordon-")) ++count;
    }
    return count;
  }
  static unsigned mode_of(const std::filesystem::path& path) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0xffffU;
  }
};

TEST_F(Apply, BringsEverythingAndRemovesTheRun) {
  put(workspace() / "edited", "old");
  put(workspace() / "gone", "old");
  put(workspace() / "tree/a/b", "old");
  put(workspace() / "was-dir/x", "old");
  put(workspace() / "was-file", "old");
  put(workspace() / "opaque/old", "old");
  start();
  put(upper() / "edited", "new");
  plant_whiteout("gone");
  plant_whiteout("tree");
  put(upper() / "was-dir", "now a file");
  put(upper() / "was-file/x", "now a directory");
  put(upper() / "opaque/new", "new");
  mark("opaque", "user.overlay.opaque", "y");
  put(upper() / "new/deep/file", "new");
  std::filesystem::create_symlink("edited", upper() / "link");
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(left(report), "");
  EXPECT_TRUE(report->removed);
  EXPECT_FALSE(run_exists());
  EXPECT_EQ(read(workspace() / "edited"), "new");
  EXPECT_FALSE(std::filesystem::exists(workspace() / "gone"));
  EXPECT_FALSE(std::filesystem::exists(workspace() / "tree"));
  EXPECT_EQ(read(workspace() / "was-dir"), "now a file");
  EXPECT_EQ(read(workspace() / "was-file/x"), "now a directory");
  EXPECT_FALSE(std::filesystem::exists(workspace() / "opaque/old"));
  EXPECT_EQ(read(workspace() / "opaque/new"), "new");
  EXPECT_EQ(read(workspace() / "new/deep/file"), "new");
  EXPECT_EQ(std::filesystem::read_symlink(workspace() / "link"), "edited");
  EXPECT_EQ(temporaries(), 0U);
}

TEST_F(Apply, TakesOnlyWhatIsNamedAndKeepsTheRest) {
  start();
  put(upper() / "src/a", "1");
  put(upper() / "src/b", "2");
  put(upper() / "src-other", "3");
  put(upper() / "deep/er/file", "4");
  put(upper() / "deep/er/other", "5");
  auto report = apply_paths({"src", "deep/er/file"});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->remaining, 2U);
  EXPECT_EQ(summary(), "A deep/er/other\nA src-other\n");
  EXPECT_EQ(read(workspace() / "deep/er/file"), "4");
  EXPECT_FALSE(std::filesystem::exists(workspace() / "src-other"));
  report = apply_all();
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->removed);
}

// What apply put into a directory that hides the lower one must not read as a deletion afterwards.
TEST_F(Apply, APartOfAnOpaqueDirectoryIsNotDeletedByTheNextApply) {
  put(workspace() / "d/old", "old");
  put(workspace() / "d/mode", "m");
  ::chmod((workspace() / "d/mode").c_str(), 0644);
  start();
  put(upper() / "d/a", "a");
  put(upper() / "d/b", "b");
  put(upper() / "d/mode", "m");
  ::chmod((upper() / "d/mode").c_str(), 0600);
  mark("d", "user.overlay.opaque", "y");
  auto report = apply_paths({"d/a", "d/mode"});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(summary(), "D d/old\nA d/b\n");
  report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->removed) << summary();
  EXPECT_EQ(read(workspace() / "d/a"), "a");
  EXPECT_EQ(read(workspace() / "d/b"), "b");
  EXPECT_EQ(mode_of(workspace() / "d/mode"), 0600U);
  EXPECT_FALSE(std::filesystem::exists(workspace() / "d/old"));
}

TEST_F(Apply, APathWithoutChangesStopsAllBeforeAnythingIsDone) {
  start();
  put(upper() / "a", "1");
  const auto report = apply_paths({"a", "b"});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Errc::not_found);
  EXPECT_EQ(report.error().text(), "b: nothing changed there");
  EXPECT_FALSE(std::filesystem::exists(workspace() / "a"));
}

TEST_F(Apply, LeavesWhatTheUserChangedMeanwhileUnlessForced) {
  put(workspace() / "edited", "old");
  put(workspace() / "gone", "old");
  put(workspace() / "tree/a", "old");
  start();
  put(upper() / "edited", "theirs");
  put(upper() / "both", "theirs");
  plant_whiteout("gone");
  plant_whiteout("tree");
  put(workspace() / "edited", "mine");
  put(workspace() / "both", "mine");
  put(workspace() / "gone", "mine");
  put(workspace() / "tree/b", "mine");
  auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->applied.size(), 0U);
  ASSERT_EQ(report->left.size(), 4U);
  EXPECT_TRUE(report->left.at(0).conflict);
  EXPECT_EQ(read(workspace() / "edited"), "mine");
  EXPECT_EQ(read(workspace() / "both"), "mine");
  EXPECT_EQ(read(workspace() / "tree/b"), "mine");
  report = apply_all(true);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->removed);
  EXPECT_EQ(read(workspace() / "edited"), "theirs");
  EXPECT_FALSE(std::filesystem::exists(workspace() / "tree"));
}

TEST_F(Apply, DropsSetIdBitsAndAttributes) {
  start();
  put(upper() / "tool", "#!");
  ASSERT_EQ(::chmod((upper() / "tool").c_str(), 06755), 0);
  mark("tool", "user.note", "x");
  std::filesystem::create_directory(upper() / "d");
  ASSERT_EQ(::chmod((upper() / "d").c_str(), 03777), 0);
  const auto found = changes();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(1).flags.at(0).code, "set_id");
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->removed) << summary();
  EXPECT_EQ(mode_of(workspace() / "tool"), 0755U);
  EXPECT_EQ(mode_of(workspace() / "d"), 0777U);
  const auto node = os::openat(os::at_cwd(), (workspace() / "tool").c_str(), O_PATH);
  EXPECT_EQ(os::get_xattr(*node, "user.note").error().code(), Errc::not_found);
}

TEST_F(Apply, FillsADirectoryThatIsReadOnlyInTheEnd) {
  std::filesystem::create_directory(workspace() / "was-shut");
  ASSERT_EQ(::chmod((workspace() / "was-shut").c_str(), 0555), 0);
  start();
  put(upper() / "was-shut/f", "1");
  put(upper() / "shut/sub/f", "2");
  ASSERT_EQ(::chmod((upper() / "was-shut").c_str(), 0755), 0);
  ASSERT_EQ(::chmod((upper() / "shut/sub").c_str(), 0555), 0);
  ASSERT_EQ(::chmod((upper() / "shut").c_str(), 0555), 0);
  // The upper layer must give the file up again, so only root can take it from there.
  if (::geteuid() != 0) ASSERT_EQ(::chmod((upper() / "shut/sub").c_str(), 0755), 0);
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(left(report), "");
  EXPECT_EQ(read(workspace() / "was-shut/f"), "1");
  EXPECT_EQ(read(workspace() / "shut/sub/f"), "2");
  EXPECT_EQ(mode_of(workspace() / "shut"), 0555U);
  EXPECT_EQ(mode_of(workspace() / "was-shut"), 0755U);
  ::chmod((workspace() / "shut").c_str(), 0755);
  ::chmod((workspace() / "shut/sub").c_str(), 0755);
}

TEST_F(Apply, NeverWritesThroughALinkOfTheWorkspaceOrOfTheRun) {
  std::filesystem::create_directory_symlink(outside(), workspace() / "dir-link");
  std::filesystem::create_symlink(outside() / "canary", workspace() / "file-link");
  start();
  put(upper() / "dir-link/canary", "evil");
  put(upper() / "file-link", "evil");
  std::filesystem::create_symlink(outside() / "canary", upper() / "new-link");
  std::filesystem::create_directory_symlink("../outside", upper() / "relative-link");
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(left(report), "");
  EXPECT_EQ(read(outside() / "canary"), kCanary);
  EXPECT_FALSE(std::filesystem::is_symlink(workspace() / "dir-link"));
  EXPECT_EQ(read(workspace() / "dir-link/canary"), "evil");
  EXPECT_FALSE(std::filesystem::is_symlink(workspace() / "file-link"));
  EXPECT_TRUE(std::filesystem::is_symlink(workspace() / "new-link"));
}

TEST_F(Apply, DeletingADirectoryFollowsNoLinkInIt) {
  std::filesystem::create_directories(workspace() / "d/sub");
  std::filesystem::create_directory_symlink(outside(), workspace() / "d/link");
  std::filesystem::create_directory_symlink(outside(), workspace() / "d/sub/link");
  start();
  plant_whiteout("d");
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_FALSE(std::filesystem::exists(workspace() / "d"));
}

TEST_F(Apply, SkipsSpecialFilesAndKeepsThemInTheRun) {
  start();
  ASSERT_EQ(::mkfifo((upper() / "pipe").c_str(), 0600), 0);
  put(upper() / "f", "1");
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(left(report), "pipe: a fifo is never applied\n");
  EXPECT_EQ(report->remaining, 1U);
  EXPECT_TRUE(run_exists());
  EXPECT_FALSE(std::filesystem::exists(workspace() / "pipe"));
}

TEST_F(Apply, NamesOfAnyBytesArrive) {
  start();
  for (const char* const name : {"-rf", "new\nline", "\x1b[31m", "\xff\xfe", " ", "%00", "..."}) {
    put(upper() / name, name);
  }
  const auto report = apply_all();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->removed);
  EXPECT_EQ(read(workspace() / "new\nline"), "new\nline");
  EXPECT_EQ(read(workspace() / "\xff\xfe"), "\xff\xfe");
}

TEST_F(Apply, IsRefusedWhileTheRunLives) {
  start();
  put(upper() / "f", "1");
  auto alive = open();
  ASSERT_TRUE(alive && alive->lock());
  const auto report = apply_all();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Errc::unavailable);
  EXPECT_FALSE(std::filesystem::exists(workspace() / "f"));
}

TEST_F(Apply, IsRefusedWhenAnotherDirectoryStandsAtTheWorkspacesPath) {
  start();
  put(upper() / "f", "1");
  std::filesystem::rename(workspace(), dir_.path() / "moved");
  std::filesystem::create_directory(workspace());
  EXPECT_FALSE(apply_all());
  EXPECT_FALSE(std::filesystem::exists(workspace() / "f"));
}

// C006: somebody who shares the workspace exchanges a directory and a link all the time.
TEST_F(Apply, NeverLeavesTheWorkspaceWhileADirectoryIsExchangedForALink) {
  std::filesystem::create_directory(workspace() / "d");
  std::filesystem::create_directory_symlink(outside(), workspace() / "d.link");
  const auto work = os::openat(os::at_cwd(), workspace().c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(work);
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> swaps = 0;
  std::thread swapper{[&] {
    while (!stop) {
      static_cast<void>(::renameat2(work->get(), "d", work->get(), "d.link", RENAME_EXCHANGE));
      ++swaps;
    }
  }};
  std::size_t applied = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 200; ++round) {
    id_ = RunId::from_bytes(*os::random_bytes<10>());
    {
      const auto run = RunDirectory::create(
          state(), {.id = id_, .workspace = workspace().string(), .started = SystemClock{}.wall()});
      ASSERT_TRUE(run) << run.error().text();
    }
    for (int i = 0; i < 10; ++i) put(upper() / "d" / ("f" + std::to_string(i)), "evil");
    put(upper() / "d/canary", "evil");
    // Forced: whatever the scan saw, only the fences around each step may stop it.
    const auto report = apply_all(true);
    if (report) {
      applied += report->applied.size();
      refused += report->left.size();
    } else {
      ++refused;
    }
    ASSERT_EQ(read(outside() / "canary"), kCanary) << "in round " << round;
  }
  stop = true;
  swapper.join();
  EXPECT_GT(swaps, 1000U);
  EXPECT_GT(applied, 0U) << "the race was never run to its end";
  EXPECT_GT(refused, 0U) << "the race was never met";
}

}  // namespace
}  // namespace cordon::review
