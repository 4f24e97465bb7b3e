// SPDX-License-Identifier: Apache-2.0
// What was committed is there after any death, and nothing that was not.
#include "journal/ledger.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "journal/journal_file_test.h"
#include "os/file.h"
#include "os/process.h"

namespace cordon::journal {
namespace {

namespace fs = std::filesystem;

WallTime at(std::int64_t milliseconds) { return WallTime{std::chrono::milliseconds{milliseconds}}; }

Digest digest(unsigned char fill) {
  Digest value;
  value.fill(std::byte{fill});
  return value;
}

SandboxRow row(std::string id) {
  return {.id = std::move(id),
          .tenant = "acme",
          .created = at(1000),
          .expires = at(2000),
          .labels = R"({"a":"b"})",
          .policy = "{}"};
}

class LedgerTest : public JournalFile {
 protected:
  static std::vector<SandboxRow> all(Ledger& ledger) {
    const auto rows = ledger.sandboxes();
    return rows ? *rows : std::vector<SandboxRow>{{.id = rows.error().text()}};
  }
};

TEST_F(LedgerTest, KeepsALifeFromItsMakingToItsEnd) {
  {
    Ledger ledger = open();
    ASSERT_TRUE(ledger.add(row("abc"), std::nullopt, at(1)));
    EXPECT_EQ(ledger.add(row("abc"), std::nullopt, at(1)).error().code(), Errc::exists);
    ASSERT_TRUE(ledger.set_living("abc"));
    ASSERT_TRUE(ledger.change("abc", at(9), "{}", R"({"version":1})"));
  }
  SandboxRow expected = row("abc");
  expected.life = Life::living;
  expected.expires = at(9);
  expected.labels = "{}";
  expected.policy = R"({"version":1})";
  Ledger ledger = open();
  EXPECT_EQ(all(ledger), std::vector{expected});
  ASSERT_TRUE(ledger.set_ended("abc", "exit 0"));
  expected.life = Life::ended;
  expected.verdict = "exit 0";
  EXPECT_EQ(all(ledger), std::vector{expected});
  ASSERT_TRUE(ledger.forget("abc"));
  ASSERT_TRUE(ledger.forget("abc"));
  EXPECT_EQ(all(ledger), std::vector<SandboxRow>{});
  EXPECT_EQ(ledger.set_living("abc").error().code(), Errc::not_found);
}

TEST_F(LedgerTest, AnswersOneKeyOnceAndWholly) {
  Ledger ledger = open();
  const CreateKey key{"acme", "once", digest(1)};
  ASSERT_TRUE(ledger.add(row("abc"), key, at(5)));
  EXPECT_EQ(ledger.add(row("def"), key, at(6)).error().code(), Errc::exists);
  EXPECT_EQ(all(ledger).size(), 1U) << "the second left no sandbox";
  // And the other way round: a sandbox that is there leaves no claim.
  EXPECT_EQ(ledger.add(row("abc"), CreateKey{"acme", "twice", digest(2)}, at(6)).error().code(),
            Errc::exists);
  auto claim = ledger.claimed("acme", "twice");
  ASSERT_TRUE(claim);
  EXPECT_FALSE(*claim);
  claim = ledger.claimed("acme", "once");
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->value_or(Claim{}).sandbox, "abc");
  EXPECT_EQ(claim->value_or(Claim{}).request, digest(1));
  claim = ledger.claimed("other", "once");
  ASSERT_TRUE(claim);
  EXPECT_FALSE(*claim) << "keys are a tenant's own";
  ASSERT_TRUE(ledger.sweep(at(5 + 1000), std::chrono::milliseconds{1000}));
  EXPECT_TRUE(*ledger.claimed("acme", "once"));
  ASSERT_TRUE(ledger.sweep(at(6 + 1000), std::chrono::milliseconds{1000}));
  EXPECT_FALSE(*ledger.claimed("acme", "once"));
}

TEST_F(LedgerTest, ForgetsTheKeyOfWhatItForgets) {
  Ledger ledger = open();
  const CreateKey key{"acme", "once", digest(1)};
  ASSERT_TRUE(ledger.add(row("abc"), key, at(5)));
  ASSERT_TRUE(ledger.forget("abc"));
  EXPECT_FALSE(*ledger.claimed("acme", "once"));
  EXPECT_TRUE(ledger.add(row("def"), key, at(6)));
}

TEST_F(LedgerTest, SweepsWhatEndedLongAgo) {
  Ledger ledger = open();
  for (const char* const id : {"old", "lives", "late"}) {
    SandboxRow each = row(id);
    each.expires = at(each.id == "late" ? 6 : 5);
    ASSERT_TRUE(ledger.add(each, {}, at(1)));
  }
  ASSERT_TRUE(ledger.set_ended("old", "v"));
  ASSERT_TRUE(ledger.set_ended("late", "v"));
  ASSERT_TRUE(ledger.sweep(at(1006), std::chrono::milliseconds{1000}));
  const auto left = all(ledger);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].id, "late");
  EXPECT_EQ(left[1].id, "lives");
}

TEST_F(LedgerTest, TellsThoseThatHaveEndedFromTheOthers) {
  Ledger ledger = open();
  for (const char* const id : {"made", "over", "runs"}) ASSERT_TRUE(ledger.add(row(id), {}, at(1)));
  ASSERT_TRUE(ledger.set_living("runs"));
  ASSERT_TRUE(ledger.set_ended("over", "v"));
  const auto unended = ledger.unended();
  ASSERT_TRUE(unended);
  ASSERT_EQ(unended->size(), 2U);
  EXPECT_EQ(unended->front().id, "made");
  EXPECT_EQ(unended->back().id, "runs");
  const auto over = ledger.ended("over");
  ASSERT_TRUE(over);
  EXPECT_EQ(over->value_or(SandboxRow{}).verdict, "v");
  for (const char* const id : {"made", "runs", "none"}) EXPECT_FALSE(*ledger.ended(id)) << id;
}

TEST_F(LedgerTest, SweepsTheOldestOfTooManyThatHaveEnded) {
  Ledger ledger = open();
  ASSERT_TRUE(ledger.begin(false));
  for (std::int64_t i = 0; i < Ledger::kMostEnded + 2; ++i) {
    SandboxRow each = row(std::to_string(i));
    each.created = at(i);
    each.expires = at(1'000'000);
    ASSERT_TRUE(ledger.add(each, {}, at(1)));
    if (i != 0) ASSERT_TRUE(ledger.set_ended(each.id, "v"));
  }
  ASSERT_TRUE(ledger.commit());
  ASSERT_TRUE(ledger.sweep(at(1), std::chrono::milliseconds{1000}));
  EXPECT_FALSE(*ledger.ended("1")) << "the oldest";
  EXPECT_TRUE(*ledger.ended("2"));
  EXPECT_EQ(all(ledger).size(), static_cast<std::size_t>(Ledger::kMostEnded) + 1)
      << "one that lives counts for nothing";
}

TEST_F(LedgerTest, RemembersRevocationsUntilTheyAreUseless) {
  Ledger ledger = open();
  const RevocationId one{std::byte{1}};
  const RevocationId two{std::byte{2}};
  ASSERT_TRUE(ledger.revoke({one, at(100)}));
  ASSERT_TRUE(ledger.revoke({two, at(200), "acme"}));
  ASSERT_TRUE(ledger.revoke({one, at(50)})) << "an earlier end does not shorten it";
  EXPECT_EQ(*ledger.revocations(),
            (std::vector<Revocation>{{one, at(100)}, {two, at(200), "acme"}}));
  ASSERT_TRUE(ledger.sweep(at(150), std::chrono::milliseconds{1}));
  EXPECT_EQ(*ledger.revocations(), (std::vector<Revocation>{{two, at(200), "acme"}}));
}

TEST_F(LedgerTest, KeepsKeysUntilTheyAreRemoved) {
  KeyRow one{.id = "one",
             .digest = digest(1),
             .tenant = "acme",
             .label = "ci",
             .created = at(5),
             .authority = {std::byte{0}, std::byte{7}}};
  KeyRow two{.id = "two", .digest = digest(2), .authority = {std::byte{1}}};
  {
    Ledger ledger = open();
    ASSERT_TRUE(ledger.add_key(one));
    ASSERT_TRUE(ledger.add_key(two));
    EXPECT_EQ(ledger.add_key(two).error().code(), Errc::exists);
    two.id = "other";
    EXPECT_EQ(ledger.add_key(two).error().code(), Errc::exists) << "one digest, one key";
    two.id = "two";
  }
  Ledger ledger = open();
  EXPECT_EQ(*ledger.keys(), (std::vector{one, two}));
  ASSERT_TRUE(ledger.remove_key("one"));
  ASSERT_TRUE(ledger.remove_key("one"));
  EXPECT_EQ(*ledger.keys(), std::vector{two});
}

TEST_F(LedgerTest, TextIsDataWhateverItHolds) {
  Ledger ledger = open();
  SandboxRow odd = row("a'; DROP TABLE sandboxes; --");
  odd.labels = std::string{"nul\0inside", 10};
  ASSERT_TRUE(ledger.add(odd, std::nullopt, at(1)));
  EXPECT_EQ(all(ledger), std::vector{odd});
}

TEST_F(LedgerTest, RefusesWhatIsNoJournalOfItsVersion) {
  std::ofstream{path()} << std::string(4096, 'x');
  EXPECT_EQ(Ledger::open(path()).error().code(), Errc::invalid);
  std::string text(9, '\0');
  std::ifstream{path()}.read(text.data(), 9);
  EXPECT_EQ(text, "xxxxxxxxx") << "left as it was";
  fs::remove(path());
  {
    const Ledger made = open();
  }
  {
    auto database = Database::open(path());
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("PRAGMA user_version = 8"));
  }
  EXPECT_EQ(Ledger::open(path()).error().text(),
            path() +
                ": a journal of version 8, this program knows version 6: start the program "
                "that wrote it");
}

// As the first version made it.
constexpr const char* kOfVersionOne =
    "CREATE TABLE sandboxes(id TEXT PRIMARY KEY, tenant TEXT NOT NULL, life INTEGER NOT NULL,"
    "  created INTEGER NOT NULL, expires INTEGER NOT NULL, labels TEXT NOT NULL,"
    "  policy TEXT NOT NULL, verdict TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE claims(tenant TEXT NOT NULL, key TEXT NOT NULL, request BLOB NOT NULL,"
    "  sandbox TEXT NOT NULL, made INTEGER NOT NULL, PRIMARY KEY (tenant, key))"
    "  STRICT, WITHOUT ROWID;"
    "CREATE TABLE revocations(id BLOB PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO revocations VALUES (x'01000000000000000000000000000000', 100);"
    "PRAGMA user_version = 1";

TEST_F(LedgerTest, GoesOnWithWhatAnEarlierVersionWrote) {
  {
    auto database = Database::open(path());
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute(kOfVersionOne));
  }
  const RevocationId one{std::byte{1}};
  const RevocationId two{std::byte{2}};
  for (int twice = 0; twice < 2; ++twice) {
    Ledger ledger = open();
    ASSERT_TRUE(ledger.revoke({two, at(200), "acme"}));
    EXPECT_EQ(*ledger.revocations(),
              (std::vector<Revocation>{{one, at(100)}, {two, at(200), "acme"}}));
  }
}

TEST_F(LedgerTest, RemembersThatNothingWasMadeForAKey) {
  Ledger ledger = open();
  const CreateKey key{.tenant = "acme", .key = "one", .request = {}};
  ASSERT_TRUE(ledger.refuse(key, at(5)));
  auto claim = ledger.claimed("acme", "one");
  ASSERT_TRUE(claim && *claim);
  EXPECT_EQ((*claim)->sandbox, "");
  EXPECT_EQ((*claim)->made, at(5));
  // Somebody who may make one takes its place, and is not displaced again.
  ASSERT_TRUE(ledger.add(row("abc"), key, at(9)));
  ASSERT_TRUE(ledger.refuse(key, at(10)));
  claim = ledger.claimed("acme", "one");
  EXPECT_EQ((*claim)->sandbox, "abc");
  EXPECT_EQ(ledger.add(row("abd"), key, at(11)).error().code(), Errc::exists);
  EXPECT_EQ(ledger.sandboxes()->size(), 1U);
}

TEST_F(LedgerTest, CountsStarts) {
  for (std::uint32_t start = 1; start < 4; ++start) {
    Ledger ledger = open();
    EXPECT_EQ(*ledger.count_start(), start);
  }
  Ledger ledger = open();
  EXPECT_EQ(*ledger.count_start(), 4U);
  EXPECT_EQ(*ledger.count_start(), 5U);
}

TEST_F(LedgerTest, RemembersWhetherTheNodeTakesNothingNew) {
  {
    Ledger ledger = open();
    EXPECT_FALSE(*ledger.is_draining());
    ASSERT_TRUE(ledger.set_draining(true));
    EXPECT_TRUE(*ledger.is_draining());
  }
  Ledger ledger = open();
  EXPECT_TRUE(*ledger.is_draining());
  ASSERT_TRUE(ledger.set_draining(false));
  EXPECT_FALSE(*ledger.is_draining());
  EXPECT_EQ(*ledger.count_start(), 1U);
}

TEST_F(LedgerTest, RemembersTheReleaseThatWasTakenLast) {
  ReleaseRow row{.number = 7, .text = "[quota]\nsandboxes = 1\n"};
  row.mac.fill(std::byte{0xab});
  {
    Ledger ledger = open();
    EXPECT_EQ(*ledger.release(), std::nullopt);
    ASSERT_TRUE(ledger.keep_release(row));
    row.number = 8;
    ASSERT_TRUE(ledger.keep_release(row));
  }
  Ledger ledger = open();
  EXPECT_EQ(*ledger.release(), row);
  ASSERT_TRUE(ledger.drop_release());
  EXPECT_EQ(*ledger.release(), std::nullopt);
}

TEST_F(LedgerTest, IsItsOwnersAlone) {
  Ledger ledger = open();
  ASSERT_TRUE(ledger.add(row("abc"), std::nullopt, at(1)));
  for (const char* end : {"", "-wal", "-shm"}) {
    struct stat st{};
    ASSERT_EQ(::stat((path() + end).c_str(), &st), 0) << end;
    EXPECT_EQ(st.st_mode & 0777U, 0600U) << end;
  }
}

TEST_F(LedgerTest, FollowsNoLink) {
  ASSERT_EQ(::symlink((directory_ / "elsewhere").c_str(), path().c_str()), 0);
  EXPECT_FALSE(Ledger::open(path()));
  EXPECT_FALSE(fs::exists(directory_ / "elsewhere"));
}

TEST_F(LedgerTest, HasWhatItConfirmedBeforeItsWriterWasKilled) {
  auto pipe = os::pipe2();
  ASSERT_TRUE(pipe);
  auto writer = os::Child::start({}, [&] {
    auto ledger = Ledger::open(path());
    if (!ledger) return 1;
    for (int number = 0;; ++number) {
      if (!ledger->begin(number % 3 == 0)) return 2;
      if (!ledger->add(row(std::to_string(number)), std::nullopt, at(1))) return 3;
      if (!ledger->commit()) return 4;
      if (::write(pipe->write.get(), &number, sizeof number) != sizeof number) return 5;
    }
  });
  ASSERT_TRUE(writer);
  int last = -1;
  while (last < 200) ASSERT_EQ(::read(pipe->read.get(), &last, sizeof last), sizeof last);
  ASSERT_TRUE(writer->signal(SIGKILL));
  static_cast<void>(std::move(*writer).wait());
  pipe->write = os::Fd{};
  while (::read(pipe->read.get(), &last, sizeof last) == sizeof last) continue;
  Ledger ledger = open();
  std::size_t found = all(ledger).size();
  EXPECT_GE(found, static_cast<std::size_t>(last) + 1);
  EXPECT_LE(found, static_cast<std::size_t>(last) + 2) << "one may not have been confirmed yet";
}

TEST_F(LedgerTest, LeavesNothingOfWhatIsNotCommitted) {
  {
    Ledger ledger = open();
    ASSERT_TRUE(ledger.begin(false));
    ASSERT_TRUE(ledger.add(row("abc"), std::nullopt, at(1)));
    ledger.roll_back();
    ASSERT_TRUE(ledger.begin(true));
    ASSERT_TRUE(ledger.add(row("def"), std::nullopt, at(1)));
  }
  Ledger ledger = open();
  EXPECT_EQ(all(ledger).size(), 0U);
}

}  // namespace
}  // namespace cordon::journal
