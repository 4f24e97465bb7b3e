// SPDX-License-Identifier: Apache-2.0
#include "os/conduit.h"

#include <array>
#include <string>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "os/socket.h"

namespace cordon::os {
namespace {

struct Way {
  SocketPair from = *socketpair(SocketType::stream);
  SocketPair to = *socketpair(SocketType::stream);
};

TEST(Conduit, MovesWhatIsThereAndKeepsItsOrder) {
  auto conduit = Conduit::create();
  ASSERT_TRUE(conduit);
  const Way way;
  const std::string text = "one two three";
  ASSERT_TRUE(send(way.from.one, as_bytes(text)));
  const auto filled = conduit->fill(way.from.two.get(), 1 << 16);
  ASSERT_TRUE(filled);
  ASSERT_EQ(*filled, text.size());
  ASSERT_EQ(*conduit->drain(way.to.one.get(), 4), 4U);
  std::array<char, 9> rest{};
  ASSERT_TRUE(conduit->take(rest));
  EXPECT_EQ((std::string{rest.data(), rest.size()}), "two three");
  std::array<std::byte, 16> got{};
  EXPECT_EQ(receive(way.to.two, got)->bytes, 4U);
  EXPECT_EQ(as_text(std::span{got}.first(4)), "one ");
}

TEST(Conduit, NeverWaitsAndSeesTheEnd) {
  auto conduit = Conduit::create();
  ASSERT_TRUE(conduit);
  Way way;
  ASSERT_TRUE(set_nonblocking(way.from.two, true) && set_nonblocking(way.to.one, true));
  const auto nothing = conduit->fill(way.from.two.get(), 1 << 16);
  ASSERT_FALSE(nothing);
  EXPECT_TRUE(would_wait(nothing.error()));
  // A peer that does not read takes so much and no more.
  std::size_t taken = 0;
  const std::string piece(1 << 14, 'x');
  for (;;) {
    ASSERT_TRUE(send(way.from.one, as_bytes(piece)));
    const auto filled = conduit->fill(way.from.two.get(), piece.size());
    ASSERT_TRUE(filled);
    const auto drained = conduit->drain(way.to.one.get(), *filled);
    if (!drained) {
      EXPECT_TRUE(would_wait(drained.error()));
      break;
    }
    taken += *drained;
    ASSERT_LT(taken, std::size_t{1} << 26U);
    if (*drained < *filled) break;
  }
  way.from.one = Fd{};
  auto fresh = Conduit::create();
  ASSERT_TRUE(fresh);
  std::size_t got = 1;
  while (got > 0) {
    const auto more = fresh->fill(way.from.two.get(), 1 << 16);
    ASSERT_TRUE(more);
    got = *more;
    std::string memory(got, '\0');
    ASSERT_TRUE(fresh->take(memory));
  }
}

}  // namespace
}  // namespace cordon::os
