// SPDX-License-Identifier: Apache-2.0
// What a notary signs, and what it does not although its log asks for it.
#include "notary/notary.h"

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "audit/log.h"
#include "audit/verify.h"
#include "notary/own_notary.h"
#include "notary/seal_log.h"
#include "os/file.h"
#include "os/test_support.h"

namespace cordon::notary {
namespace {

namespace fs = std::filesystem;

os::Fd opened(const fs::path& path) {
  auto fd = os::openat(os::at_cwd(), path.c_str(), O_RDONLY | O_DIRECTORY);
  return fd ? *std::move(fd) : os::Fd{};
}

std::string text_of(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

audit::TreeRange leaves(std::uint64_t begin, std::uint64_t end, std::uint8_t salt = 0) {
  audit::TreeRange range{begin};
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::array bytes{static_cast<std::byte>(i), static_cast<std::byte>(salt)};
    range.add(audit::leaf_hash(bytes));
  }
  return range;
}

frame::SignHead wanted(const std::string& log, const audit::TreeRange& range) {
  return {.log = log, .begin = range.begin(), .end = range.end(), .hashes = range.bytes()};
}

class NotaryTest : public testing::Test {
 protected:
  Result<OwnNotary> open() { return OwnNotary::open(opened(dir_.path()), clock_); }
  // By a notary that is started for it.
  Result<audit::Head> sign(const frame::SignHead& asked) {
    TRY(OwnNotary notary, open());
    return notary.notary().sign(asked);
  }
  std::string refusal(const frame::SignHead& asked) {
    const std::string before = text_of(dir_.path() / "signed");
    const auto head = sign(asked);
    EXPECT_EQ(text_of(dir_.path() / "signed"), before) << "something was remembered of it";
    return head ? "signed" : head.error().text();
  }
  std::vector<audit::Head> anchored() const {
    const auto heads = audit::read_heads(opened(dir_.path()), "heads");
    EXPECT_TRUE(heads);
    return heads ? *heads : std::vector<audit::Head>{};
  }

  os::TempDir dir_;
  ManualClock clock_{WallTime{std::chrono::seconds{1'700'000'000}}};
};

TEST_F(NotaryTest, SignsWhatContinues) {
  const auto first = sign(wanted("abc", leaves(0, 5)));
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(first->root, leaves(0, 5).root());
  EXPECT_TRUE(is_signed(*first));
  const auto second = sign(wanted("abc", leaves(5, 12)));
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(second->size, 12U);
  EXPECT_EQ(second->root, leaves(0, 12).root());
  EXPECT_EQ(second->key, first->key);
  EXPECT_EQ(anchored(), (std::vector{*first, *second}));
  // Once more, of the same: another time, the same root.
  const auto again = sign(wanted("abc", audit::TreeRange{12}));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->root, second->root);
}

TEST_F(NotaryTest, SignsNothingElse) {
  ASSERT_TRUE(sign(wanted("abc", leaves(0, 5))));
  EXPECT_NE(refusal(wanted("abc", leaves(0, 5, 1))).find("5 records are signed"),
            std::string::npos);
  EXPECT_NE(refusal(wanted("abc", leaves(3, 9))).find("5 records are signed"), std::string::npos);
  EXPECT_NE(refusal(wanted("abc", leaves(6, 9))).find("5 records are signed"), std::string::npos);
  EXPECT_NE(refusal(wanted("../x", leaves(0, 1))).find("the id of the log"), std::string::npos);
  frame::SignHead odd = wanted("abc", leaves(5, 9));
  odd.hashes.pop_back();
  EXPECT_NE(refusal(odd), "signed");
  odd = wanted("abc", leaves(5, 9));
  odd.end = 13;  // so many have four subtrees
  EXPECT_NE(refusal(odd), "signed");
  EXPECT_EQ(anchored().size(), 1U);
}

// Two histories of one log would need this way back.
TEST_F(NotaryTest, NeverGoesBackToALogThatItHasLeft) {
  ASSERT_TRUE(sign(wanted("abc", leaves(0, 5))));
  ASSERT_TRUE(sign(wanted("def", leaves(0, 2))));
  EXPECT_NE(refusal(wanted("abc", leaves(5, 6))).find("is closed"), std::string::npos);
  EXPECT_NE(refusal(wanted("abc", leaves(0, 5))).find("is closed"), std::string::npos);
  ASSERT_TRUE(sign(wanted("def", leaves(2, 3))));
  for (std::size_t i = 1; i < kMostClosed; ++i) {
    std::string name = "n";
    for (std::size_t rest = i; rest > 0; rest /= 16) name += "abcdefghijklmnop"[rest % 16];
    ASSERT_TRUE(sign(wanted(name, leaves(0, 1)))) << i;
  }
  EXPECT_NE(refusal(wanted("zzz", leaves(0, 1))).find("as many logs"), std::string::npos);
}

TEST_F(NotaryTest, KnowsOfOneWhoDiedWhileItWrote) {
  ASSERT_TRUE(sign(wanted("abc", leaves(0, 5))));
  const std::string one = text_of(dir_.path() / "signed");
  ASSERT_TRUE(sign(wanted("abc", leaves(5, 9))));
  const std::string two = text_of(dir_.path() / "signed");
  // Any beginning of the second write: what it said before, or all of it.
  for (std::size_t part = 0; part <= two.size(); part += 37) {
    std::string torn = one;
    torn.resize(std::max(one.size(), part), '\0');
    std::copy_n(two.begin(), part, torn.begin());
    std::ofstream{dir_.path() / "signed", std::ios::binary} << torn;
    const auto notary = open();
    ASSERT_TRUE(notary) << part << notary.error().text();
  }
  std::ofstream{dir_.path() / "signed", std::ios::binary} << std::string(two.size(), 'x');
  const auto notary = open();
  ASSERT_FALSE(notary);
  EXPECT_EQ(notary.error().code(), Errc::denied);
}

TEST_F(NotaryTest, WritesOverAHeadThatIsNotWhole) {
  ASSERT_TRUE(sign(wanted("abc", leaves(0, 5))));
  std::ofstream{dir_.path() / "heads", std::ios::app} << R"({"log":"abc","size":7,"ro)";
  ASSERT_TRUE(sign(wanted("abc", leaves(5, 6))));
  EXPECT_EQ(anchored().size(), 2U);
}

TEST(Ed25519, HoldsWhatWasSigned) {
  const std::array<std::byte, kSeedSize> seed{std::byte{7}};
  const auto key = SigningKey::from(seed);
  ASSERT_TRUE(key);
  audit::Head head{.log = "abc", .size = 7, .root = {}, .time = WallTime{}};
  ASSERT_TRUE(key->sign(head));
  EXPECT_TRUE(is_signed(head));
  for (const auto& change : std::vector<std::function<void(audit::Head&)>>{
           [](audit::Head& it) { it.log = "abd"; }, [](audit::Head& it) { it.size = 8; },
           [](audit::Head& it) { it.root[31] = std::byte{1}; },
           [](audit::Head& it) { it.time += std::chrono::milliseconds{1}; },
           [](audit::Head& it) { it.key[0] ^= std::byte{1}; },
           [](audit::Head& it) { it.signature[63] ^= std::byte{1}; }}) {
    audit::Head other = head;
    change(other);
    EXPECT_FALSE(is_signed(other));
  }
}

// RFC 8032, 7.1, test 1: the key of this seed.
TEST(Ed25519, HasThePublicKeyOfItsSeed) {
  constexpr std::array<unsigned, 32> kSeed{0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60,
                                           0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
                                           0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19,
                                           0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60};
  std::array<std::byte, kSeedSize> seed{};
  for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<std::byte>(kSeed[i]);
  const auto key = SigningKey::from(seed);
  ASSERT_TRUE(key);
  EXPECT_EQ(to_hex(key->public_key()),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
}

TEST_F(NotaryTest, SealsALogOfItsOwner) {
  const os::TempDir place;
  auto log = audit::Log::open(opened(place.path()), clock_, {.segment_bytes = 2000});
  ASSERT_TRUE(log);
  const audit::Subject subject{.tenant = {}, .sandbox = "k7f3"};
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE((*log)->append(subject, PolicyAccepted{std::to_string(i)}));
    }
    auto notary = open();
    ASSERT_TRUE(notary);
    const auto head = seal_log(notary->notary(), opened(place.path()));
    ASSERT_TRUE(head);
    EXPECT_EQ(head->value_or(audit::Head{}).size, (*log)->size());
    const auto nothing = seal_log(notary->notary(), opened(place.path()));
    EXPECT_TRUE(nothing && !*nothing);
  }
  const auto done = audit::verify(opened(place.path()), anchored(), is_signed);
  ASSERT_TRUE(done);
  EXPECT_FALSE(done->finding);
  EXPECT_EQ(done->sealed, 80U);
  EXPECT_EQ(*audit::read_heads(opened(place.path()), "heads"), anchored());
}

}  // namespace
}  // namespace cordon::notary
