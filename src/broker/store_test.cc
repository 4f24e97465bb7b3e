// SPDX-License-Identifier: Apache-2.0
// A store over a file without a name: what it keeps, and what it finds out about its file.
#include "broker/store.h"

#include <random>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "broker/sentinel_test.h"
#include "os/memfd.h"
#include "os/positioned_file.h"

namespace cordon::broker {
namespace {

template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error{result.error().text()};
  return *std::move(result);
}

class StoreOf : public testing::Test {
 protected:
  os::Fd file() const { return need(os::duplicate(file_)); }
  static os::LockedMemory key(std::byte fill = std::byte{7}) {
    os::LockedMemory key = need(os::LockedMemory::create(kSealKey));
    std::ranges::fill(key.bytes(), fill);
    return key;
  }
  Store open() const { return need(Store::open(file(), key())); }
  Result<Store> try_open() const { return Store::open(file(), key()); }

  std::vector<std::byte> content() const {
    struct stat status{};
    EXPECT_EQ(::fstat(file_.get(), &status), 0);
    std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
    EXPECT_TRUE(os::read_at(file_, 0, bytes));
    return bytes;
  }
  void put(std::span<const std::byte> bytes) const {
    ASSERT_EQ(::ftruncate(file_.get(), static_cast<off_t>(bytes.size())), 0);
    ASSERT_TRUE(os::write_at(file_, 0, bytes));
  }
  std::uint64_t blocks() const {
    struct stat status{};
    EXPECT_EQ(::fstat(file_.get(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  }

  os::Fd file_ = need(os::memfd_create("store"));
};

std::string text_of(const Store& store, const StoredName& name) {
  const auto secret = store.read(name);
  return secret ? std::string{as_text(secret->bytes())} : secret.error().text();
}

TEST_F(StoreOf, GivesBackWhatItKeepsAlsoWhenOpenedAnew) {
  {
    Store store = open();
    ASSERT_TRUE(store.keep({"acme", "github"}, as_bytes(kSentinel)));
    ASSERT_TRUE(store.keep({"acme", "npm"}, as_bytes("one")));
    ASSERT_TRUE(store.keep({"acme", "npm"}, as_bytes("another")));
    ASSERT_TRUE(store.keep({"other", "github"}, as_bytes("theirs")));
    ASSERT_TRUE(store.keep({"acme", "gone"}, as_bytes("x")));
    EXPECT_TRUE(need(store.drop({"acme", "gone"})));
    EXPECT_FALSE(need(store.drop({"acme", "gone"})));
    EXPECT_EQ(text_of(store, {"acme", "github"}), kSentinel);
  }
  const Store store = open();
  EXPECT_EQ(text_of(store, {"acme", "github"}), kSentinel);
  EXPECT_EQ(text_of(store, {"acme", "npm"}), "another");
  EXPECT_EQ(text_of(store, {"other", "github"}), "theirs");
  EXPECT_EQ(text_of(store, {"acme", "gone"}), "there is no secret of that name");
  EXPECT_EQ(store.names("acme", "", 10), (std::vector<std::string>{"github", "npm"}));
  EXPECT_EQ(store.names("acme", "github", 10), (std::vector<std::string>{"npm"}));
  EXPECT_EQ(store.names("acme", "", 1), (std::vector<std::string>{"github"}));
  EXPECT_EQ(store.names("nobody", "", 10), std::vector<std::string>{});
}

TEST_F(StoreOf, ShowsNothingInItsFile) {
  Store store = open();
  ASSERT_TRUE(store.keep({"acme-tenant", "github-name"}, as_bytes(kSentinel)));
  const auto bytes = content();
  for (const std::string_view shown :
       {std::string_view{"acme-tenant"}, {"github-name"}, kSentinel}) {
    EXPECT_EQ(as_text(bytes).find(shown), std::string_view::npos) << shown;
  }
}

TEST_F(StoreOf, IsClosedToAnotherKey) {
  ASSERT_TRUE(open().keep({"acme", "github"}, as_bytes(kSentinel)));
  const auto opened = Store::open(file(), key(std::byte{8}));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::invalid);
  EXPECT_EQ(text_of(open(), {"acme", "github"}), kSentinel);
}

TEST_F(StoreOf, RefusesWhatItCannotKeep) {
  Store store = open();
  EXPECT_FALSE(store.keep({"", "name"}, as_bytes("x")));
  EXPECT_FALSE(store.keep({"acme", ""}, as_bytes("x")));
  EXPECT_FALSE(store.keep({"acme", std::string(129, 'a')}, as_bytes("x")));
  EXPECT_FALSE(store.keep({"acme", "name"}, {}));
  EXPECT_FALSE(store.keep({"acme", "name"}, std::vector<std::byte>((64U << 10U) + 1)));
  EXPECT_TRUE(store.keep({"acme", "name"}, std::vector<std::byte>(64U << 10U)));
}

// Either it opens with all that was kept, or not at all: each byte that counts is sealed.
TEST_F(StoreOf, FindsEveryByteThatWasChanged) {
  {
    Store store = open();
    ASSERT_TRUE(store.keep({"acme", "one"}, as_bytes("first")));
    ASSERT_TRUE(store.keep({"acme", "two"}, as_bytes("second")));
    ASSERT_TRUE(store.keep({"acme", "one"}, as_bytes("third")));
  }
  const auto good = content();
  std::size_t found = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] ^= std::byte{0x10};
    put(bad);
    const auto store = try_open();
    if (!store) {
      ++found;
      continue;
    }
    // A header that does not count, or what lies between them. Where the newer one was hit the
    // state before the last write is there: both are states that it had.
    const std::string one = text_of(*store, {"acme", "one"});
    EXPECT_TRUE(one == "third" || (one == "first" && at < Store::kFirst)) << at << ": " << one;
    EXPECT_EQ(text_of(*store, {"acme", "two"}), "second") << at;
    EXPECT_LT(at, Store::kFirst) << "a changed record was taken";
  }
  EXPECT_EQ(found, good.size() - Store::kFirst);
}

TEST_F(StoreOf, FindsRecordsThatAreCutOffOrMoved) {
  std::vector<std::byte> one;
  {
    Store store = open();
    ASSERT_TRUE(store.keep({"acme", "one"}, as_bytes("first")));
    one = content();
    ASSERT_TRUE(store.keep({"acme", "two"}, as_bytes("other")));
  }
  const auto good = content();
  const std::size_t record = one.size() - Store::kFirst;
  ASSERT_EQ(good.size(), one.size() + record);
  put(std::span{good}.first(good.size() - 1));
  EXPECT_FALSE(try_open());
  auto swapped = good;
  std::swap_ranges(swapped.begin() + Store::kFirst,
                   swapped.begin() + static_cast<std::ptrdiff_t>(one.size()),
                   swapped.begin() + static_cast<std::ptrdiff_t>(one.size()));
  put(swapped);
  EXPECT_FALSE(try_open());
  put(good);
  EXPECT_TRUE(try_open());
}

// Power that goes in the middle of a write leaves a prefix of it.
TEST_F(StoreOf, KeepsTheStateBeforeAWriteThatWasCutOff) {
  Store store = open();
  ASSERT_TRUE(store.keep({"acme", "one"}, as_bytes("first")));
  const auto before = content();
  ASSERT_TRUE(store.keep({"acme", "one"}, as_bytes("second")));
  const auto after = content();
  // The record is written, and its header is not, or in part.
  for (const std::size_t part : {0U, 1U, 16U, 40U, 59U}) {
    auto torn = before;
    torn.resize(after.size());
    std::copy(after.begin() + static_cast<std::ptrdiff_t>(before.size()), after.end(),
              torn.begin() + static_cast<std::ptrdiff_t>(before.size()));
    std::copy_n(after.begin() + 4096, part, torn.begin() + 4096);
    std::copy_n(after.begin(), part, torn.begin());
    put(torn);
    const auto opened = try_open();
    ASSERT_TRUE(opened) << part << ": " << opened.error().text();
    EXPECT_EQ(text_of(*opened, {"acme", "one"}), "first") << part;
  }
}

TEST_F(StoreOf, GivesTheBlocksOfOldRecordsBack) {
  Store store = open();
  const std::string big(8'000, 'x');
  ASSERT_TRUE(store.keep({"acme", "still"}, as_bytes(kSentinel)));
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(store.keep({"acme", "turned"}, as_bytes(big + std::to_string(i))));
  }
  EXPECT_LT(blocks(), 300'000U);
  EXPECT_EQ(text_of(store, {"acme", "turned"}), big + "399");
  const Store again = open();
  EXPECT_EQ(text_of(again, {"acme", "still"}), kSentinel);
  EXPECT_EQ(text_of(again, {"acme", "turned"}), big + "399");
}

TEST_F(StoreOf, AgreesWithAMapOverRandomChanges) {
  std::mt19937 dice{20261115};
  std::map<std::string, std::string> model;
  std::optional<Store> store{open()};
  for (int i = 0; i < 2'000; ++i) {
    const std::string name = "s" + std::to_string(dice() % 20);
    const std::string value(1 + dice() % 3'000, static_cast<char>('a' + dice() % 26));
    switch (dice() % 8) {
      case 0:
        EXPECT_EQ(need(store->drop({"acme", name})), model.erase(name) == 1);
        break;
      case 1:
        store.emplace(open());
        break;
      default:
        ASSERT_TRUE(store->keep({"acme", name}, as_bytes(value)));
        model[name] = value;
    }
    const auto known = model.find(name);
    EXPECT_EQ(store->has({"acme", name}), known != model.end());
    if (known != model.end()) EXPECT_EQ(text_of(*store, {"acme", name}), known->second);
  }
  EXPECT_EQ(store->names("acme", "", 100).size(), model.size());
}

}  // namespace
}  // namespace cordon::broker
