// SPDX-License-Identifier: Apache-2.0
#include "token/mac.h"

#include <algorithm>
#include <concepts>
#include <memory>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::token {
namespace {

Secret secret_of(std::string_view text) {
  Digest bytes{};
  std::ranges::copy(as_bytes(text).first(std::min(text.size(), bytes.size())), bytes.begin());
  return Secret{bytes};
}

// RFC 4231, cases 1 and 2: a key shorter than 32 bytes is the same key with zeros behind it.
TEST(Mac, HmacGivesThePublishedTags) {
  const Secret first = secret_of(std::string(20, '\x0b'));
  EXPECT_EQ(to_hex(hmac(first, {as_bytes("Hi There")}).bytes()),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac(first, {as_bytes("Hi "), as_bytes("There")}).bytes()),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac(secret_of("Jefe"), {as_bytes("what do ya want for nothing?")}).bytes()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Mac, ComparesAllBytes) {
  const Digest zeros{};
  EXPECT_TRUE(same_bytes(zeros, zeros));
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    Digest other{};
    other[i] = std::byte{1};
    EXPECT_FALSE(same_bytes(zeros, other)) << i;
  }
}

bool is_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
}

TEST(Mac, ASecretThatWasMovedIsZeros) {
  Secret from = secret_of("something that nobody may see");
  const Secret to{std::move(from)};
  EXPECT_TRUE(is_zero(from.bytes()));  // NOLINT(bugprone-use-after-move): the claim itself
  EXPECT_FALSE(is_zero(to.bytes()));
  Secret over = secret_of("something else");
  Secret last = secret_of("the last");
  over = std::move(last);
  EXPECT_TRUE(is_zero(last.bytes()));  // NOLINT(bugprone-use-after-move): the claim itself
  EXPECT_EQ(as_text(over.bytes()).substr(0, 8), "the last");
}

TEST(Mac, ASecretThatIsGoneIsZeros) {
  alignas(Secret) std::array<std::byte, sizeof(Secret)> place{};
  Secret* const secret = new (place.data()) Secret{secret_of("something that nobody may see")};
  ASSERT_FALSE(is_zero(place));
  std::destroy_at(secret);
  EXPECT_TRUE(is_zero(place));
}

static_assert(!std::is_copy_constructible_v<Secret> && !std::is_copy_assignable_v<Secret>);

// C220: there is one way to compare a tag, same_bytes(), which is CRYPTO_memcmp and takes as long
// wherever two differ. Nothing else compiles: not for secrets, nor for the tag of a layout.
static_assert(!std::equality_comparable<Secret>);
static_assert(!std::equality_comparable<std::span<const std::byte, kDigestSize>>);

}  // namespace
}  // namespace cordon::token
