// SPDX-License-Identifier: Apache-2.0
#include "egress/state_file.h"

#include <gtest/gtest.h>

#include "egress/name_server.h"
#include "os/memfd.h"

namespace cordon::egress {
namespace {

class State : public ::testing::Test {
 protected:
  os::Fd file_ = *os::memfd_create("state");
};

std::optional<std::uint32_t> address_in(StateFile& state, std::string_view id,
                                        std::string_view name) {
  const auto slot = state.slot(id);
  if (!slot) return std::nullopt;
  const auto names = WardNames::open(slot->names);
  return names ? names->table().address_of(name) : std::nullopt;
}

void add(StateFile& state, std::string_view id, std::string_view name) {
  const auto slot = state.slot(id);
  auto names = WardNames::open(slot->names);
  ASSERT_TRUE(names) << names.error().text();
  ASSERT_TRUE(names->add(name, NameOrigin::fresh));
}

TEST_F(State, OutlivesTheProcessThatWroteIt) {
  {
    auto first = StateFile::open(file_);
    ASSERT_TRUE(first);
    add(*first, "one", "a.example");
    add(*first, "two", "b.example");
    add(*first, "two", "c.example");
    first->slot("one")->authority[0] = std::byte{7};
  }
  auto next = StateFile::open(file_);
  ASSERT_TRUE(next);
  EXPECT_EQ(address_in(*next, "one", "a.example"), kFirstFresh);
  EXPECT_EQ(address_in(*next, "two", "c.example"), kFirstFresh + 1);
  EXPECT_FALSE(next->slot("two")->fresh);
  EXPECT_EQ(next->slot("one")->authority[0], std::byte{7});
  EXPECT_EQ(address_in(*next, "one", "b.example"), std::nullopt);
}

TEST_F(State, IsWipedWhenASandboxIsForgotten) {
  auto state = StateFile::open(file_);
  ASSERT_TRUE(state);
  add(*state, "one", "a.example");
  state->slot("one")->authority[3] = std::byte{9};
  add(*state, "two", "b.example");
  state->forget("one");
  // The next sandbox gets its place, and nothing else of it.
  const auto slot = state->slot("three");
  ASSERT_TRUE(slot);
  EXPECT_TRUE(slot->fresh);
  EXPECT_TRUE(std::ranges::all_of(slot->authority, [](std::byte b) { return b == std::byte{}; }));
  EXPECT_EQ(address_in(*state, "three", "a.example"), std::nullopt);
  EXPECT_EQ(address_in(*state, "two", "b.example"), kFirstFresh);
  // Behind a gap too.
  auto next = StateFile::open(file_);
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->slot("two")->fresh);
}

TEST_F(State, TakesNoIdThatDoesNotFit) {
  auto state = StateFile::open(file_);
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->slot(""));
  EXPECT_FALSE(state->slot(std::string(64, 'a')));
  EXPECT_TRUE(state->slot(std::string(52, 'a')));
}

TEST_F(State, RefusesNamesThatAreBroken) {
  auto state = StateFile::open(file_);
  ASSERT_TRUE(state);
  add(*state, "one", "a.example");
  state->slot("one")->names[12] ^= std::byte{1};
  EXPECT_FALSE(WardNames::open(state->slot("one")->names));
}

}  // namespace
}  // namespace cordon::egress
