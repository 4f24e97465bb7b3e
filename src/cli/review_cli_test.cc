// SPDX-License-Identifier: Apache-2.0
// The verbs of review as a person types them: output, exit codes, JSON.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "cli/ran_test.h"
#include "cli/verbs.h"
#include "os/test_support.h"
#include "os/xattr.h"
#include "review/run_directory.h"

namespace cordon::cli {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

// A workspace that is the current directory, and a state root beside it.
class ReviewVerbs : public ::testing::Test {
 protected:
  ReviewVerbs() : before_{fs::current_path()} {
    fs::create_directories(workspace());
    fs::current_path(workspace());
  }
  ~ReviewVerbs() override { fs::current_path(before_); }

  fs::path workspace() const { return dir_.path() / "w"; }
  std::string state() const { return (dir_.path() / "state/cordon").string(); }
  fs::path upper(const std::string& id = "k7f3aaaa") const {
    return fs::path{state()} / "runs" / id / "upper";
  }

  static void put(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream{path, std::ios::binary} << text;
  }
  static std::string read(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  // A run that took twelve minutes up to now.
  void run_of_twelve_minutes(const char* id = "k7f3aaaa") {
    std::this_thread::sleep_for(std::chrono::milliseconds{25});
    auto run = review::RunDirectory::create(state(), {.id = *RunId::parse(id),
                                                      .command = {"agent"},
                                                      .workspace = workspace().string(),
                                                      .started = SystemClock{}.wall()});
    ASSERT_TRUE(run) << run.error().text();
    review::RunRecord record = run->record();
    record.ended = record.started + std::chrono::minutes{12};
    record.verdict = "exit 0";
    ASSERT_TRUE(run->save(record));
    std::this_thread::sleep_for(std::chrono::milliseconds{25});
  }

  void plant_whiteout(const fs::path& path) {
    put(path, "");
    const auto node = os::openat(os::at_cwd(), path.c_str(), O_PATH);
    ASSERT_TRUE(node && os::set_xattr(*node, "user.overlay.whiteout", "y"));
  }

  Ran cordon(std::vector<const char*> words) const {
    std::ostringstream out;
    std::ostringstream err;
    const std::map<std::string, std::string> environment = {
        {"XDG_STATE_HOME", (dir_.path() / "state").string()}};
    Context context{.out = out,
                    .err = err,
                    .environment = [&](const std::string& name) -> std::optional<std::string> {
                      const auto found = environment.find(name);
                      return found == environment.end() ? std::nullopt
                                                        : std::optional{found->second};
                    }};
    words.insert(words.begin(), "cordon");
    const int exit = run(static_cast<int>(words.size()), words.data(), context);
    return {exit, out.str(), err.str()};
  }

  os::TempDir dir_;

 private:
  fs::path before_;
};

TEST_F(ReviewVerbs, DiffListsDeletionsFirstAndFlagsWhatRunsElsewhere) {
  put(workspace() / "src/cart.ts", "1\n2\n3\n");
  put(workspace() / "migrations/0042_users.sql", "x\n");
  put(workspace() / "package.json", R"({"dependencies":{}})");
  run_of_twelve_minutes();
  put(upper() / "src/cart.ts", "1\n2\nthree\nfour\n");
  put(upper() / "package.json", R"({"dependencies":{"left-pad":"1"}})");
  put(upper() / ".github/workflows/x.yml", "on: push\n");
  plant_whiteout(upper() / "migrations/0042_users.sql");
  const Ran ran = cordon({"diff"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out,
            "run k7f3aaaa   12 min   2 changed  1 new  1 DELETED\n"
            "  D  migrations/0042_users.sql\n"
            "  A  .github/workflows/x.yml    +1   ! runs in CI with your token\n"
            "  M  package.json               +1 -1   ! adds or moves dependencies: left-pad\n"
            "  M  src/cart.ts                +2 -1\n");
}

TEST_F(ReviewVerbs, DiffEscapesNamesAndKeepsTheirBytesInJson) {
  run_of_twelve_minutes();
  put(upper() / "a\nD  fake\x1b[2J", "");
  put(upper() / "\xff", "");
  EXPECT_EQ(cordon({"diff"}).out,
            "run k7f3aaaa   12 min   0 changed  2 new\n"
            "  A  a\\nD  fake\\x1b[2J  +0\n"
            "  A  \\xff               +0\n");
  const json::value told = json::parse(cordon({"diff", "--json"}).out);
  EXPECT_EQ(told.at("run").at("id").as_string(), "k7f3aaaa");
  EXPECT_EQ(told.at("changes").at(0).at("path").as_string(), "a\nD  fake\x1b[2J");
  EXPECT_EQ(told.at("changes").at(1).at("path").as_string(), "\\xff");
  EXPECT_EQ(told.at("changes").at(1).at("path_hex").as_string(), "ff");
  EXPECT_FALSE(told.at("changes").at(1).at("host_exec_risk").as_bool());
}

TEST_F(ReviewVerbs, DiffPrintsOneFileAsAPatch) {
  put(workspace() / "src/a", "1\n");
  run_of_twelve_minutes();
  put(upper() / "src/a", "2\x1b\n");
  const char* const expected = "--- a/src/a\n+++ b/src/a\n@@ -1,1 +1,1 @@\n-1\n+2\\x1b\n";
  EXPECT_EQ(cordon({"diff", "-p", "src/a"}).out, expected);
  fs::current_path(workspace() / "src");
  EXPECT_EQ(cordon({"diff", "-p", "a"}).out, expected)
      << "from inside, and the run of the directory above";
  EXPECT_EQ(cordon({"diff", "-p", "b"}).exit, 4);
  EXPECT_EQ(cordon({"diff", "-p", "../../x"}).exit, 1);
}

TEST_F(ReviewVerbs, RunsAreFoundByPlaceByIdAndByItsBeginning) {
  EXPECT_EQ(cordon({"diff"}).exit, 4);
  run_of_twelve_minutes("k7f3aaaa");
  run_of_twelve_minutes("k7f3bbbb");
  EXPECT_EQ(cordon({"diff"}).out, "run k7f3bbbb   12 min   no changes\n") << "the newest";
  EXPECT_EQ(cordon({"diff", "k7f3a"}).out, "run k7f3aaaa   12 min   no changes\n");
  EXPECT_EQ(cordon({"diff", "k7f3"}).exit, 1) << "two begin so";
  EXPECT_EQ(cordon({"diff", "k7f"}).exit, 4) << "too short";
  fs::create_directory(dir_.path() / "elsewhere");
  fs::current_path(dir_.path() / "elsewhere");
  EXPECT_EQ(cordon({"diff"}).exit, 4);
  EXPECT_EQ(cordon({"diff", "k7f3bbbb"}).exit, 0);
}

TEST_F(ReviewVerbs, ApplyTakesPathsThenAll) {
  run_of_twelve_minutes();
  put(upper() / "src/a", "1");
  put(upper() / "src/b", "2");
  put(upper() / "-rf", "3");
  EXPECT_EQ(cordon({"apply"}).exit, 2);
  EXPECT_EQ(cordon({"apply", "--all", "src"}).exit, 2);
  EXPECT_EQ(cordon({"apply", "k7f3"}).exit, 2) << "an id alone says nothing about what";
  EXPECT_EQ(cordon({"apply", "absent"}).exit, 4);
  const Ran some = cordon({"apply", "k7f3", "src/", "./-rf"});
  EXPECT_EQ(some.exit, 0) << some.err;
  EXPECT_EQ(some.out, "applied 4 changes; run k7f3aaaa is done\n");
  EXPECT_EQ(read("src/b"), "2");
  EXPECT_EQ(read("./-rf"), "3");
  EXPECT_EQ(cordon({"diff", "k7f3aaaa"}).exit, 4);
}

TEST_F(ReviewVerbs, ApplyTellsWhatItLeftAndExitsWithOne) {
  put(workspace() / "a", "old");
  run_of_twelve_minutes();
  put(upper() / "a", "theirs");
  put(upper() / "b", "theirs");
  put(workspace() / "a", "mine");
  const Ran ran = cordon({"apply", "--all"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.out, "applied 1 change; 1 left in run k7f3aaaa\n");
  EXPECT_EQ(ran.err,
            "cordon: not applied: a: changed in the workspace after the run began; --force takes "
            "the run's\n");
  EXPECT_EQ(read("a"), "mine");
  const json::value told = json::parse(cordon({"apply", "--all", "--force", "--json"}).out);
  EXPECT_EQ(told.at("applied").at(0).at("path").as_string(), "a");
  EXPECT_TRUE(told.at("removed").as_bool());
  EXPECT_EQ(read("a"), "theirs");
}

TEST_F(ReviewVerbs, ALivingRunIsShownButNeitherAppliedNorDiscarded) {
  run_of_twelve_minutes();
  put(upper() / "a", "1");
  auto alive = review::RunDirectory::open(state(), *RunId::parse("k7f3aaaa"));
  ASSERT_TRUE(alive && alive->lock());
  const Ran shown = cordon({"diff"});
  EXPECT_EQ(shown.exit, 0);
  EXPECT_EQ(shown.err, "cordon: run k7f3aaaa is still running: this is what it did up to now\n");
  EXPECT_TRUE(shown.out.starts_with("run k7f3aaaa   running   0 changed  1 new\n")) << shown.out;
  EXPECT_EQ(cordon({"apply", "--all"}).exit, 5);
  EXPECT_EQ(cordon({"discard", "k7f3aaaa"}).exit, 5);
  EXPECT_TRUE(fs::exists(upper() / "a"));
}

TEST_F(ReviewVerbs, DiscardRemovesTheRunAndNothingElse) {
  put(workspace() / "a", "mine");
  run_of_twelve_minutes();
  put(upper() / "a", "theirs");
  EXPECT_EQ(cordon({"discard"}).exit, 2) << "never a default";
  EXPECT_EQ(cordon({"discard", "k7f3"}).out, "discarded run k7f3aaaa\n");
  EXPECT_FALSE(fs::exists(upper()));
  EXPECT_EQ(read("a"), "mine");
  EXPECT_EQ(cordon({"discard", "k7f3"}).err, "cordon: k7f3: no run has this id\n");
}

TEST_F(ReviewVerbs, EachTellsItsFlags) {
  for (const char* const verb : {"diff", "apply", "discard"}) {
    const Ran ran = cordon({verb, "--help"});
    EXPECT_EQ(ran.exit, 0);
    EXPECT_NE(ran.out.find("--json"), std::string::npos) << verb;
  }
}

}  // namespace
}  // namespace cordon::cli
