// SPDX-License-Identifier: Apache-2.0
#include "review/run_directory.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "review/fixture_test.h"

namespace cordon::review {
namespace {

class RunDirectories : public ReviewFixture {
 protected:
  Result<RunDirectory> make(const char* id, int started, std::optional<int> expires = {}) const {
    return RunDirectory::create(
        state(), {.id = *RunId::parse(id),
                  .command = {"agent", "\xff\n"},
                  .workspace = workspace().string(),
                  .started = WallTime{std::chrono::milliseconds{started}},
                  .expires = expires ? std::optional{WallTime{std::chrono::milliseconds{*expires}}}
                                     : std::nullopt});
  }
};

TEST_F(RunDirectories, ARecordComesBackAsItWasWritten) {
  const auto made = make("abc", 17, 90);
  ASSERT_TRUE(made) << made.error().text();
  const auto opened = RunDirectory::open(state(), *RunId::parse("abc"));
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->record(), made->record());
  EXPECT_EQ(opened->record().command.at(1), "\xff\n");
  EXPECT_TRUE(opened->open_upper());
  EXPECT_TRUE(opened->open_work());
  EXPECT_TRUE(opened->open_workspace());
}

TEST_F(RunDirectories, SavesTheEndOfARun) {
  auto made = make("abc", 17);
  RunRecord record = made->record();
  record.ended = WallTime{std::chrono::milliseconds{20}};
  record.verdict = "exit 0";
  ASSERT_TRUE(made->save(record));
  EXPECT_EQ(RunDirectory::open(state(), record.id)->record(), record);
}

TEST_F(RunDirectories, OnlyItsOwnerEntersAndTheUpperLooksLikeTheWorkspace) {
  ASSERT_EQ(::chmod(workspace().c_str(), 0751), 0);
  ASSERT_TRUE(make("abc", 17));
  struct stat status{};
  ASSERT_EQ(::stat((state() + "/runs/abc").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  ASSERT_EQ(::stat((state() + "/runs/abc/upper").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0751U);
}

TEST_F(RunDirectories, AreListedNewestFirstAndStrangersAreLeftOut) {
  EXPECT_TRUE(RunDirectory::list(state())->runs.empty());
  ASSERT_TRUE(make("aaa", 1));
  ASSERT_TRUE(make("bbb", 3));
  ASSERT_TRUE(make("ccc", 2));
  put(state() + "/runs/ddd/run.json", "{}");
  put(state() + "/runs/Stranger", "");
  const auto list = RunDirectory::list(state());
  ASSERT_TRUE(list);
  ASSERT_EQ(list->runs.size(), 3U);
  EXPECT_EQ(list->runs.at(0).id.text(), "bbb");
  EXPECT_EQ(list->runs.at(2).id.text(), "aaa");
  EXPECT_EQ(list->unreadable, std::vector<std::string>{"ddd"});
}

TEST_F(RunDirectories, AStateRootThatOthersCanWriteIsRefused) {
  ASSERT_TRUE(make("aaa", 1));
  ASSERT_EQ(::chmod((state() + "/runs").c_str(), 0770), 0);
  EXPECT_EQ(RunDirectory::open(state(), *RunId::parse("aaa")).error().code(), Errc::denied);
}

TEST_F(RunDirectories, ALivingRunIsSeenAndCannotBeRemoved) {
  const auto alive = make("aaa", 1);
  auto other = RunDirectory::open(state(), *RunId::parse("aaa"));
  ASSERT_TRUE(alive && other);
  EXPECT_FALSE(alive->is_held_by_another());
  EXPECT_TRUE(other->is_held_by_another());
  const Status refused = std::move(*other).remove();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), "run aaa: still running");
  EXPECT_TRUE(RunDirectory::open(state(), *RunId::parse("aaa")));
}

TEST_F(RunDirectories, ExpireTakesOnlyWhatIsOldAndEnded) {
  ASSERT_TRUE(make("old", 1, 50));
  ASSERT_TRUE(make("young", 1, 51));
  ASSERT_TRUE(make("ever", 1));
  const auto alive = make("alive", 1, 50);
  put(state() + "/runs/.gone-x/upper/f", "half removed");
  put(state() + "/runs/unreadable/upper/f", "not ours to judge");
  const auto removed = RunDirectory::expire(state(), WallTime{std::chrono::milliseconds{50}});
  ASSERT_TRUE(removed) << removed.error().text();
  EXPECT_EQ(*removed, std::vector{*RunId::parse("old")});
  EXPECT_EQ(RunDirectory::list(state())->runs.size(), 3U);
  EXPECT_FALSE(std::filesystem::exists(state() + "/runs/.gone-x"));
  EXPECT_TRUE(std::filesystem::exists(state() + "/runs/unreadable/upper/f"));
}

TEST_F(RunDirectories, RefusesARecordThatIsNotWhole) {
  for (const char* const text : {"", "[]", "{}", R"({"id":"abc"})", R"({"id":"../x"})"}) {
    EXPECT_FALSE(parse_run_record(text)) << text;
  }
}

}  // namespace
}  // namespace cordon::review
