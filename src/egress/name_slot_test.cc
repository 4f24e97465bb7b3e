// SPDX-License-Identifier: Apache-2.0
#include "egress/name_slot.h"

#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cordon::egress {
namespace {

using Memory = std::vector<std::byte>;

void add(NameTable& table, NameSlot& slot, const std::string& name, NameOrigin origin) {
  const auto address = table.add(name, origin);
  ASSERT_TRUE(address);
  if (address->added) slot.append(name, origin);
}

// A table of three names, and the memory that it lies in.
struct Three {
  Memory memory = Memory(kNameSlotSize);
  NameSlot slot = NameSlot::format(memory);
  NameTable table;

  Three() {
    add(table, slot, "pypi.org", NameOrigin::pinned);
    add(table, slot, "a.example", NameOrigin::fresh);
    add(table, slot, "b.example", NameOrigin::fresh);
  }
};

std::string refusal_of(Memory memory) {
  const auto opened = NameSlot::open(memory);
  return opened ? "opened" : opened.error().text();
}

TEST(NameSlot, GivesBackTheTableThatWasWritten) {
  Three three;
  auto opened = NameSlot::open(three.memory);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->table, three.table);

  add(opened->table, opened->slot, "c.example", NameOrigin::fresh);  // and goes on
  const auto again = NameSlot::open(three.memory);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->table, opened->table);
  EXPECT_EQ(again->table.address_of("c.example"), kFirstFresh + 2);
}

TEST(NameSlot, LiesInMemoryAsThis) {
  Memory memory(kNameSlotSize);
  NameSlot slot = NameSlot::format(memory);
  slot.append("a.b", NameOrigin::fresh);
  EXPECT_EQ(to_hex(std::span{memory}.first(24)),
            "4e43524e"
            "01000000"
            "05000000"
            "faffffff"
            "0103612e62"
            "000000");
}

TEST(NameSlot, HoldsTheFullestTable) {
  Memory memory(kNameSlotSize);
  NameSlot slot = NameSlot::format(memory);
  NameTable table;
  for (std::size_t i = 0; i < NameTable::kMostOfEach; ++i) {  // 64 bytes each: all bounds at once
    add(table, slot, fmt::format("a{:054}.example", i).insert(30, "."), NameOrigin::pinned);
    add(table, slot, fmt::format("b{:054}.example", i).insert(30, "."), NameOrigin::fresh);
  }
  EXPECT_EQ(table.bytes(), NameTable::kMostBytes);
  const auto opened = NameSlot::open(memory);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ(opened->table, table);
}

TEST(NameSlot, HasNothingOfANameWhoseWriterDied) {
  Three three;
  const std::size_t end = kNameSlotHeader + 10 + 11 + 11;
  // As append() leaves it before it counts the record: any part of it.
  const std::string record = std::string{"\x01\x09"} + "c.example";
  for (std::size_t written = 0; written <= record.size(); ++written) {
    Memory memory = three.memory;
    std::ranges::copy(as_bytes(record).first(written),
                      memory.begin() + static_cast<std::ptrdiff_t>(end));
    auto opened = NameSlot::open(memory);
    ASSERT_TRUE(opened) << opened.error().text();
    EXPECT_EQ(opened->table, three.table);
    add(opened->table, opened->slot, "d.example", NameOrigin::fresh);
    EXPECT_EQ(NameSlot::open(memory)->table.names(NameOrigin::fresh).back(), "d.example");
  }
}

TEST(NameSlot, IsRefusedWhereItIsNotAsItWasLeft) {
  const Three three;
  const auto with = [&](std::size_t at, int value) {
    Memory memory = three.memory;
    memory[at] = static_cast<std::byte>(value);
    return refusal_of(std::move(memory));
  };
  EXPECT_EQ(refusal_of(three.memory), "opened");
  EXPECT_EQ(refusal_of(Memory(kNameSlotSize)), "name table: no table is there");
  EXPECT_EQ(refusal_of(Memory(kNameSlotSize - 1)), "name table: a slot that is too small");
  EXPECT_EQ(with(0, 0), "name table: no table is there");
  EXPECT_EQ(with(4, 2), "name table: version 2, this is 1");
  EXPECT_EQ(with(8, 0), "name table: a length that cannot be");
  EXPECT_EQ(with(15, 0), "name table: a length that cannot be");
  EXPECT_EQ(with(16, 2), "name table: an unknown origin");
  EXPECT_NE(with(17, 9), "opened");
  EXPECT_NE(with(18, 'P'), "opened");
  EXPECT_EQ(with(16 + 10 + 11 + 2, 'a'), "name table: a name stands there twice");
  EXPECT_EQ(with(16 + 10 + 11 + 2, 'c'), "opened");  // another table, but a table
}

TEST(NameSlot, IsATableOrRefusedWhateverByteIsChanged) {
  const Three three;
  std::mt19937 dice{11};
  int opened = 0;
  for (int round = 0; round < 600; ++round) {
    Memory memory = three.memory;
    memory[dice() % (kNameSlotHeader + 32)] = static_cast<std::byte>(dice());
    const auto result = NameSlot::open(memory);
    if (!result) continue;
    ++opened;
    Memory other(kNameSlotSize);
    NameSlot copy = NameSlot::format(other);
    for (const NameOrigin origin : {NameOrigin::pinned, NameOrigin::fresh}) {
      for (const std::string& name : result->table.names(origin)) copy.append(name, origin);
    }
    EXPECT_EQ(NameSlot::open(other)->table, result->table);
  }
  EXPECT_GT(opened, 20);
  EXPECT_LT(opened, 580);
}

}  // namespace
}  // namespace cordon::egress
