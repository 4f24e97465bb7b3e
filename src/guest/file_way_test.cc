// SPDX-License-Identifier: Apache-2.0
// A bound holds against every link, also one that is put there at that moment; without it the same
// link is followed.
#include "guest/file_way.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <linux/fs.h>
#include <string>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "guest/file_act.h"
#include "os/test_support.h"

namespace cordon::guest {
namespace {

using frame::FileAct;
using frame::FileReply;
using frame::FileRequest;

// DIR/in is the bound; DIR/out is what nobody may reach.
class BoundActs : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(dir_.path() / "in" / "sub");
    std::filesystem::create_directories(dir_.path() / "out");
    std::filesystem::create_directories(dir_.path() / "in-other");
    std::ofstream{at("out/secret")} << "secret";
    std::ofstream{at("in-other/secret")} << "secret";
    std::ofstream{at("in/sub/f")} << "text";
  }
  std::string at(const std::string& name) const { return (dir_.path() / name).string(); }
  FileReply bound(FileRequest request) const {
    request.beneath = at("in");
    return act(request);
  }
  FileReply read(const std::string& path) const {
    return bound({.act = FileAct::read, .path = path, .count = 100});
  }
  void link(const std::string& target, const std::string& path) const {
    ASSERT_EQ(::symlink(target.c_str(), path.c_str()), 0);
  }
  os::TempDir dir_;
};

TEST_F(BoundActs, ReachWhatIsBelow) {
  link("sub/f", at("in/link"));
  link("../sub", at("in/sub/round"));
  EXPECT_EQ(read(at("in/sub/f")).bytes, "text");
  EXPECT_EQ(read(at("in/link")).bytes, "text");
  EXPECT_EQ(read(at("in/sub/round/../sub/f")).bytes, "text");
  EXPECT_EQ(bound({.act = FileAct::list, .path = at("in")}).entries.size(), 2U);
  EXPECT_EQ(bound({.act = FileAct::list, .path = at("in/")}).entries.size(), 2U);
  EXPECT_EQ(bound({.act = FileAct::stat, .path = at("in")}).error_number, 0);
  EXPECT_EQ(bound({.act = FileAct::write,
                   .path = at("in/new/deep/g"),
                   .bytes = "x",
                   .mode = 0640,
                   .parents = true})
                .error_number,
            0);
  EXPECT_EQ(
      bound({.act = FileAct::rename, .path = at("in/new"), .bytes = at("in/moved")}).error_number,
      0);
  EXPECT_EQ(read(at("in/moved/deep/g")).bytes, "x");
  EXPECT_EQ(bound({.act = FileAct::remove, .path = at("in/moved")}).error_number, 0);
}

TEST_F(BoundActs, ReachNothingElse) {
  link("../out", at("in/up"));
  link(at("out"), at("in/absolute"));
  link("../../out", at("in/sub/up"));
  link("../out/secret", at("in/file"));
  for (const char* path :
       {"out/secret", "in-other/secret", "in/../out/secret", "in/up/secret", "in/absolute/secret",
        "in/sub/up/secret", "in/file", "in/sub/../../out/secret", ""}) {
    const FileReply reply = read(at(path));
    EXPECT_EQ(reply.error_number, EXDEV) << path;
    EXPECT_EQ(reply.bytes, "") << path;
    EXPECT_EQ(bound({.act = FileAct::stat, .path = at(path), .follow = true}).error_number, EXDEV)
        << path;
  }
  for (const char* path : {"in/up/new", "in/absolute/new", "in/../out/new", "out/new"}) {
    for (const bool parents : {false, true}) {
      EXPECT_EQ(bound({.act = FileAct::write, .path = at(path), .parents = parents}).error_number,
                EXDEV)
          << path;
      EXPECT_EQ(bound({.act = FileAct::make_directory, .path = at(path), .parents = parents})
                    .error_number,
                EXDEV)
          << path;
      EXPECT_EQ(
          bound(
              {.act = FileAct::rename, .path = at("in/sub"), .bytes = at(path), .parents = parents})
              .error_number,
          EXDEV)
          << path;
    }
    EXPECT_EQ(bound({.act = FileAct::make_link, .path = at(path), .bytes = "x"}).error_number,
              EXDEV);
  }
  for (const char* path : {"in/up/secret", "in/absolute/secret", "out/secret", "out"}) {
    EXPECT_EQ(bound({.act = FileAct::remove, .path = at(path)}).error_number, EXDEV) << path;
    EXPECT_EQ(bound({.act = FileAct::change, .path = at(path), .mode = 0}).error_number, EXDEV);
    EXPECT_EQ(bound({.act = FileAct::rename, .path = at(path), .bytes = at("in/x")}).error_number,
              EXDEV);
  }
  // The bound itself is no entry of it.
  EXPECT_EQ(bound({.act = FileAct::remove, .path = at("in")}).error_number, EINVAL);
  EXPECT_EQ(bound({.act = FileAct::remove, .path = at("in/")}).error_number, EINVAL);
  EXPECT_EQ(bound({.act = FileAct::remove, .path = at("in/sub/..")}).error_number, EINVAL);
  EXPECT_TRUE(std::filesystem::exists(at("out/secret")));
  EXPECT_FALSE(std::filesystem::exists(at("out/new")));

  // The counter-arm: without a bound the links are followed.
  EXPECT_EQ(act({.act = FileAct::read, .path = at("in/up/secret"), .count = 100}).bytes, "secret");
  EXPECT_EQ(act({.act = FileAct::read, .path = at("in/file"), .count = 100}).bytes, "secret");
  EXPECT_EQ(act({.act = FileAct::write, .path = at("in/absolute/new")}).error_number, 0);
  EXPECT_TRUE(std::filesystem::exists(at("out/new")));
}

TEST_F(BoundActs, RefuseABoundThatIsALinkOrNone) {
  link("out", at("in2"));
  link(".", at("here"));
  const auto reading = [&](const std::string& beneath, const std::string& path) {
    return act({.act = FileAct::read, .path = path, .count = 9, .beneath = beneath}).error_number;
  };
  EXPECT_EQ(reading(at("in2"), at("in2/secret")), ELOOP);
  EXPECT_EQ(reading(at("here/in"), at("here/in/sub/f")), ELOOP);
  EXPECT_EQ(reading(at("missing"), at("missing/f")), ENOENT);
  EXPECT_EQ(reading("in", at("in/sub/f")), EINVAL);
  EXPECT_EQ(reading(at("in/sub/f"), at("in/sub/f")), ENOTDIR);
  EXPECT_EQ(reading(at("in/"), at("in/sub/f")), 0);
  EXPECT_EQ(reading("/", at("in/sub/f")), 0);
}

// The workload swaps a directory for a link to the outside again and again; the other arm shows
// that the swapping hits.
TEST_F(BoundActs, AreNotFooledByASwap) {
  std::filesystem::create_directories(at("in/here"));
  std::ofstream{at("in/here/secret")} << "mine";
  link(at("out"), at("in/there"));
  std::atomic<bool> done = false;
  std::thread swapper{[&] {
    while (!done) {
      static_cast<void>(::renameat2(AT_FDCWD, at("in/here").c_str(), AT_FDCWD,
                                    at("in/there").c_str(), RENAME_EXCHANGE));
    }
  }};
  int escaped = 0;
  int seen = 0;
  int unbound = 0;
  for (int i = 0; i < 20'000; ++i) {
    const FileReply reply = read(at("in/here/secret"));
    escaped += reply.bytes == "secret" ? 1 : 0;
    seen += reply.bytes == "mine" ? 1 : 0;
    const FileReply other = act({.act = FileAct::read, .path = at("in/here/secret"), .count = 100});
    unbound += other.bytes == "secret" ? 1 : 0;
  }
  done = true;
  swapper.join();
  EXPECT_EQ(escaped, 0);
  EXPECT_GT(seen, 0);
  EXPECT_GT(unbound, 0);
}

}  // namespace
}  // namespace cordon::guest
