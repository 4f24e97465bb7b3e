// SPDX-License-Identifier: Apache-2.0
// What a watch sees, what it never looks at, and that it says when it saw less than there was.
#include "guest/watch_tree.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <poll.h>
#include <set>
#include <unistd.h>

#include <gtest/gtest.h>

#include "guest/watcher.h"
#include "os/file.h"
#include "os/test_support.h"

namespace cordon::guest {
namespace {

namespace fs = std::filesystem;
using frame::WatchKind;

class Watching : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(dir_.path() / "in" / "sub"); }
  fs::path at(const std::string& name) const { return dir_.path() / name; }
  void begin(bool recursive, const std::string& name = "in") {
    const std::string path = at(name).string();
    auto tree = WatchTree::create([=] { return os::openat(os::at_cwd(), path.c_str(), O_PATH); },
                                  recursive);
    ASSERT_TRUE(tree) << tree.error().text();
    tree_ = std::make_unique<WatchTree>(*std::move(tree));
  }
  // Reads until `kind` of `name` was told; false where nothing more comes.
  bool sees(WatchKind kind, const std::string& name) {
    while (true) {
      for (const frame::WatchEvent& event : told_.events) {
        if (event.kind == kind && event.name == name) return true;
      }
      pollfd news{.fd = tree_->inotify().get(), .events = POLLIN, .revents = 0};
      if (::poll(&news, 1, 200) <= 0) return false;
      const auto there = tree_->read(told_);
      if (!there || !*there) {
        gone_ = true;
        return false;
      }
    }
  }

  os::TempDir dir_;
  std::unique_ptr<WatchTree> tree_;
  frame::WatchEvents told_;
  bool gone_ = false;
};

TEST_F(Watching, TellsWhatHappensInADirectory) {
  begin(false);
  std::ofstream{at("in/f")} << "text";
  EXPECT_TRUE(sees(WatchKind::made, "f"));
  EXPECT_TRUE(sees(WatchKind::changed, "f"));
  fs::permissions(at("in/f"), fs::perms::owner_read);
  EXPECT_TRUE(sees(WatchKind::attributes, "f"));
  fs::rename(at("in/f"), at("in/g"));
  EXPECT_TRUE(sees(WatchKind::moved_here, "g"));
  std::set<std::uint32_t> moves;
  for (const auto& event : told_.events) {
    if (event.kind == WatchKind::moved_away || event.kind == WatchKind::moved_here) {
      moves.insert(event.move);
    }
  }
  EXPECT_EQ(moves.size(), 1U) << "both names of one move";
  fs::remove(at("in/g"));
  EXPECT_TRUE(sees(WatchKind::removed, "g"));
  EXPECT_FALSE(told_.lost);
  // Not below, unless it is asked to.
  std::ofstream{at("in/sub/f")} << "text";
  EXPECT_FALSE(sees(WatchKind::made, "sub/f"));
}

TEST_F(Watching, GoesDownAndFollowsDirectoriesThatComeAndMove) {
  begin(true);
  std::ofstream{at("in/sub/f")} << "text";
  EXPECT_TRUE(sees(WatchKind::made, "sub/f"));
  fs::create_directories(at("in/new/deep"));
  std::ofstream{at("in/new/deep/f")} << "text";
  EXPECT_TRUE(sees(WatchKind::made, "new/deep/f"));
  fs::rename(at("in/new"), at("in/sub/moved"));
  EXPECT_TRUE(sees(WatchKind::moved_here, "sub/moved"));
  std::ofstream{at("in/sub/moved/deep/g")} << "text";
  EXPECT_TRUE(sees(WatchKind::made, "sub/moved/deep/g"));
  fs::rename(at("in/sub/moved"), at("outside"));
  EXPECT_TRUE(sees(WatchKind::moved_away, "sub/moved"));
  told_ = {};
  std::ofstream{at("outside/deep/h")} << "text";
  EXPECT_FALSE(sees(WatchKind::made, "sub/moved/deep/h"));
  EXPECT_TRUE(told_.events.empty()) << "what has gone outside is not watched";
}

TEST_F(Watching, FollowsNoLinkBelow) {
  fs::create_directory(at("outside"));
  fs::create_directory_symlink(at("outside"), at("in/link"));
  begin(true);
  fs::create_directory_symlink(at("outside"), at("in/later"));
  EXPECT_TRUE(sees(WatchKind::made, "later"));
  told_ = {};
  std::ofstream{at("outside/f")} << "text";
  EXPECT_FALSE(sees(WatchKind::made, "link/f"));
  EXPECT_TRUE(told_.events.empty());
}

TEST_F(Watching, EndsWithWhatItWatches) {
  begin(true);
  fs::remove_all(at("in"));
  EXPECT_FALSE(sees(WatchKind::made, "never"));
  EXPECT_TRUE(gone_);
}

TEST_F(Watching, LooksAtNoOtherThatTookItsPlace) {
  begin(true);
  fs::rename(at("in"), at("was"));
  fs::create_directories(at("in"));
  EXPECT_FALSE(sees(WatchKind::made, "never"));
  EXPECT_TRUE(gone_);
}

TEST_F(Watching, SaysThatItDoesNotWatchAll) {
  for (std::size_t i = 0; i < frame::kMostWatchedDirectories + 10; ++i) {
    fs::create_directory(at("in/sub/" + std::to_string(i)));
  }
  begin(true);
  std::ofstream{at("in/f")} << "text";
  EXPECT_TRUE(sees(WatchKind::made, "f"));
  EXPECT_TRUE(told_.lost);
  // Once: the next words are whole again.
  told_ = {};
  std::ofstream{at("in/g")} << "text";
  EXPECT_TRUE(sees(WatchKind::made, "g"));
  EXPECT_FALSE(told_.lost);
}

TEST_F(Watching, SaysThatTheKernelDroppedSome) {
  begin(false);
  std::ifstream limit{"/proc/sys/fs/inotify/max_queued_events"};
  int most = 0;
  limit >> most;
  if (most <= 0 || most > 100'000) GTEST_SKIP() << "the queue is too long to fill";
  for (int i = 0; i <= most; ++i) {
    const std::string name = at("in/" + std::to_string(i % 2));
    std::ofstream{name} << "x";
    fs::remove(name);
  }
  EXPECT_FALSE(sees(WatchKind::made, "never"));
  EXPECT_TRUE(told_.lost);
}

TEST_F(Watching, RefusesAPathThatLeadsOut) {
  fs::create_directory(at("outside"));
  fs::create_directory_symlink("../outside", at("in/link"));
  for (const bool bound : {true, false}) {
    auto pipe = os::pipe2();
    ASSERT_TRUE(pipe);
    const frame::StartWatch wanted{.path = at("in/link").string(),
                                   .beneath = bound ? at("in").string() : ""};
    if (bound) {
      watch(wanted, pipe->write);
      pipe->write = os::Fd{};
      const auto said = os::read_all(pipe->read, 1000);
      ASSERT_TRUE(said);
      frame::FrameCutter cutter;
      cutter.push(std::as_bytes(std::span{*said}));
      const auto next = cutter.next();
      const auto body = next ? *next : std::nullopt;
      ASSERT_TRUE(body);
      const auto frame = frame::decode_from_guest(body.value_or(std::span<const std::byte>{}));
      ASSERT_TRUE(frame);
      EXPECT_EQ(*frame, (frame::FromGuest{frame::WatchEnded{.error_number = EXDEV}}));
    } else {
      const auto open = [&] { return os::openat(os::at_cwd(), wanted.path.c_str(), O_PATH); };
      EXPECT_TRUE(WatchTree::create(open, false)) << "without a bound it is followed";
    }
  }
}

}  // namespace
}  // namespace cordon::guest
