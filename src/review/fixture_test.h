// SPDX-License-Identifier: Apache-2.0
// What the tests of this module share: a workspace, a run over it, and hands to plant things.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/test_support.h"
#include "os/xattr.h"
#include "review/apply.h"
#include "review/run_directory.h"
#include "review/scan.h"

namespace cordon::review {

// Longer than the tick by which filesystems date their files.
inline void let_time_pass() { std::this_thread::sleep_for(std::chrono::milliseconds{25}); }

// A state root, a workspace `w`, a directory `outside` with a canary, and a run named by `start`.
class ReviewFixture : public ::testing::Test {
 protected:
  ReviewFixture() {
    std::filesystem::create_directory(workspace());
    put(dir_.path() / "outside/canary", kCanary);
  }
  ~ReviewFixture() override {
    EXPECT_EQ(read(dir_.path() / "outside/canary"), kCanary) << "the canary was touched";
    std::error_code ignored;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{dir_.path() / "outside", ignored},
                            std::filesystem::directory_iterator{}),
              1);
  }

  static void put(const std::filesystem::path& path, const std::string& text) {
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << text;
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  std::string state() const { return (dir_.path() / "state").string(); }
  std::filesystem::path workspace() const { return dir_.path() / "w"; }
  std::filesystem::path outside() const { return dir_.path() / "outside"; }
  std::filesystem::path upper() const { return dir_.path() / "state/runs" / id_.text() / "upper"; }

  // Begins the run; what the workspace has now is older than it.
  void start(OverlayMarks marks = OverlayMarks::user) {
    let_time_pass();
    const auto run = RunDirectory::create(state(), {.id = id_,
                                                    .command = {"agent"},
                                                    .workspace = workspace().string(),
                                                    .started = SystemClock{}.wall(),
                                                    .marks = marks});
    ASSERT_TRUE(run) << run.error().text();
    let_time_pass();
  }

  // As overlayfs mounted with `userxattr` can write it.
  void plant_whiteout(const std::string& path) {
    put(upper() / path, "");
    mark(path, "user.overlay.whiteout", "y");
  }
  void mark(const std::string& path, const char* name, std::string_view value) {
    const auto node = os::openat(os::at_cwd(), (upper() / path).c_str(), O_PATH | O_NOFOLLOW);
    ASSERT_TRUE(node) << node.error().text();
    const Status set = os::set_xattr(*node, name, value);
    ASSERT_TRUE(set) << set.error().text();
  }

  Result<RunDirectory> open() const { return RunDirectory::open(state(), id_); }

  Result<std::vector<Change>> changes(const ScanLimits& limits = {}) const {
    TRY(const RunDirectory run, open());
    TRY(const os::Fd upper_fd, run.open_upper());
    TRY(const os::Fd workspace_fd, run.open_workspace());
    return scan(upper_fd, workspace_fd,
                {.marks = run.record().marks, .started = run.record().started, .limits = limits});
  }

  // "D a/b" and so on, one line each; or the error.
  std::string summary() const {
    const auto found = changes();
    if (!found) return found.error().text();
    std::string text;
    for (const Change& change : *found) {
      text += std::string{letter_of(change.kind)} + " " + change.path + "\n";
    }
    return text;
  }

  Result<ApplyReport> apply_paths(std::vector<std::string> paths, bool force = false) const {
    TRY(RunDirectory run, open());
    return apply(std::move(run), {.selection = {.paths = std::move(paths)}, .force = force});
  }
  Result<ApplyReport> apply_all(bool force = false) const {
    TRY(RunDirectory run, open());
    return apply(std::move(run), {.selection = {.all = true}, .force = force});
  }

  static constexpr const char* kCanary = "untouched";
  os::TempDir dir_;
  RunId id_ = *RunId::parse("k7f3aaaa");
};

}  // namespace cordon::review
