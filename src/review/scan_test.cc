// SPDX-License-Identifier: Apache-2.0
#include "review/scan.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "review/fixture_test.h"

namespace cordon::review {
namespace {

class Scan : public ReviewFixture {
 protected:
  Change only() const {
    auto found = changes();
    EXPECT_TRUE(found && found->size() == 1) << summary();
    if (!found || found->size() != 1) return {};
    return found->front();
  }
};

TEST_F(Scan, TellsAddedModifiedDeletedAndModeApart) {
  for (const char* const name : {"edited", "gone", "same", "mode"})
    put(workspace() / name, "1\n2\n");
  start();
  put(upper() / "edited", "1\n3\n4\n");
  put(upper() / "new/deep/file", "x\n");
  put(upper() / "same", "1\n2\n");
  put(upper() / "mode", "1\n2\n");
  for (const char* const name : {"edited", "same"}) ::chmod((upper() / name).c_str(), 0644);
  for (const char* const name : {"edited", "same", "mode"}) {
    ::chmod((workspace() / name).c_str(), 0644);
  }
  ::chmod((upper() / "mode").c_str(), 0600);
  plant_whiteout("gone");
  EXPECT_EQ(summary(), "M edited\nD gone\nP mode\nA new\nA new/deep\nA new/deep/file\n");
  const auto found = changes();
  EXPECT_EQ(found->front().lines, (LineCount{.added = 2, .removed = 1}));
  EXPECT_EQ(found->back().lines, (LineCount{.added = 1, .removed = 0}));
}

TEST_F(Scan, AWhiteoutOfNothingIsNothing) {
  start();
  plant_whiteout("never-was");
  EXPECT_EQ(summary(), "");
}

TEST_F(Scan, AnOpaqueDirectoryDeletesAllItDoesNotHoldAtEveryDepth) {
  for (const char* const name : {"d/keep", "d/gone", "d/sub/keep", "d/sub/gone", "d/tree/a"}) {
    put(workspace() / name, "old");
  }
  start();
  put(upper() / "d/keep", "old");
  put(upper() / "d/sub/keep", "new");
  mark("d", "user.overlay.opaque", "y");
  EXPECT_EQ(summary(), "D d/gone\nD d/tree\nD d/sub/gone\nM d/sub/keep\n");
  EXPECT_EQ(changes()->at(1).entries, 1U) << "of the directory d/tree";
}

TEST_F(Scan, ADirectoryThatOnlyHoldsAttributeWhiteoutsHidesNothing) {
  put(workspace() / "d/keep", "old");
  start();
  std::filesystem::create_directory(upper() / "d");
  mark("d", "user.overlay.opaque", "x");
  EXPECT_EQ(summary(), "");
}

TEST_F(Scan, WhatTheUserMadeAfterTheRunBeganIsNotDeletedByAnOpaqueDirectory) {
  put(workspace() / "d/old", "old");
  start();
  std::filesystem::create_directory(upper() / "d");
  mark("d", "user.overlay.opaque", "y");
  put(workspace() / "d/made-later", "mine");
  EXPECT_EQ(summary(), "D d/old\n");
}

TEST_F(Scan, MarksOfTheOtherKindAreTheSandboxesOwnAttributes) {
  put(workspace() / "f", "old");
  start(OverlayMarks::trusted);
  plant_whiteout("f");
  mark("f", "user.overlay.redirect", "/etc");
  EXPECT_EQ(summary(), "M f\n");
}

TEST_F(Scan, RefusesMarksThatWouldStandForAnotherFile) {
  start();
  put(upper() / "d/f", "");
  mark("d/f", "user.overlay.metacopy", "");
  EXPECT_EQ(summary(), "d/f: carries user.overlay.metacopy, which no mount of ours writes");
  std::filesystem::remove(upper() / "d/f");
  mark("d", "user.overlay.redirect", "../../etc");
  EXPECT_EQ(summary(), "d: carries user.overlay.redirect, which no mount of ours writes");
}

TEST_F(Scan, AChangeOfTypeSaysWhatItTakesAway) {
  put(workspace() / "was-dir/a", "");
  put(workspace() / "was-dir/b/c", "");
  put(workspace() / "was-file", "");
  start();
  put(upper() / "was-dir", "now a file");
  put(upper() / "was-file/x", "");
  EXPECT_EQ(summary(), "T was-dir\nT was-file\nA was-file/x\n");
  EXPECT_EQ(changes()->front().entries, 3U);
}

TEST_F(Scan, FollowsNoLinkOnEitherSide) {
  std::filesystem::create_directory_symlink(outside(), workspace() / "lower-link");
  start();
  std::filesystem::create_directory_symlink(outside(), upper() / "upper-link");
  put(upper() / "lower-link/canary", kCanary);
  EXPECT_EQ(summary(), "T lower-link\nA lower-link/canary\nA upper-link\n");
  const auto found = changes();
  EXPECT_EQ(found->back().flags.at(0).code, "link_out");
}

TEST_F(Scan, SpecialFilesAreListedWithTheirObstacle) {
  start();
  ASSERT_EQ(::mkfifo((upper() / "pipe").c_str(), 0600), 0);
  const Change change = only();
  EXPECT_EQ(change.type, os::FileType::fifo);
  EXPECT_EQ(change.obstacle, "a fifo is never applied");
}

TEST_F(Scan, WhatIsTooDeepIsToldAndNotEntered) {
  start();
  put(upper() / "a/b/c/d/e", "");
  const auto found = changes({.depth = 3});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ(found->back().path, "a/b/c");
  EXPECT_EQ(found->back().obstacle, "nested too deeply to be reviewed");
}

TEST_F(Scan, MoreEntriesThanTheLimitIsAnErrorAndNotAShorterList) {
  start();
  for (int i = 0; i < 20; ++i) put(upper() / ("f" + std::to_string(i)), "");
  EXPECT_TRUE(changes({.entries = 20}));
  const auto found = changes({.entries = 19});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Errc::exhausted);
}

TEST_F(Scan, ADirectoryThatCannotBeLookedIntoIsTold) {
  if (::geteuid() == 0) GTEST_SKIP() << "root looks into every directory";
  std::filesystem::create_directory(workspace() / "shut");
  start();
  put(upper() / "shut/hidden", "");
  ::chmod((workspace() / "shut").c_str(), 0);
  ::chmod((upper() / "shut").c_str(), 0);
  const Change change = only();
  EXPECT_TRUE(change.obstacle.starts_with("cannot be looked into")) << change.obstacle;
  ::chmod((workspace() / "shut").c_str(), 0700);
  ::chmod((upper() / "shut").c_str(), 0700);
}

TEST_F(Scan, BinaryAndVeryLargeFilesHaveNoLineCounts) {
  start();
  put(upper() / "binary", std::string("a\0b\n", 4));
  put(upper() / "large", std::string((1U << 20U) + 1, 'a'));
  const auto found = changes();
  ASSERT_EQ(found->size(), 2U);
  EXPECT_FALSE(found->at(0).lines);
  EXPECT_FALSE(found->at(1).lines);
  EXPECT_EQ(found->at(1).size, (1U << 20U) + 1);
}

TEST_F(Scan, ABareRepositoryIsFlaggedWhereItsPartsMeet) {
  put(workspace() / "objects/x", "");
  put(workspace() / "refs/x", "");
  put(workspace() / "notes/config", "");
  start();
  put(upper() / "HEAD", "ref: refs/heads/main\n");
  put(upper() / "config", "[core]\n\tfsmonitor = evil\n");
  put(upper() / "notes/config", "harmless");
  const auto found = changes();
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ(found->at(0).flags.at(0).code, "git_config");
  EXPECT_EQ(found->at(1).flags.at(0).code, "git_config");
  EXPECT_TRUE(found->at(2).flags.empty());
}

}  // namespace
}  // namespace cordon::review
