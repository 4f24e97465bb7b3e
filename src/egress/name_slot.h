// SPDX-License-Identifier: Apache-2.0
// A name table as it lies in memory that outlives the process: a journal that only grows, whole
// after a death at any instruction.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "egress/name_table.h"

namespace cordon::egress {

// Bytes that hold every table, however full: a header, and for each name two bytes more.
inline constexpr std::size_t kNameSlotHeader = 16;
inline constexpr std::size_t kNameSlotSize =
    kNameSlotHeader + NameTable::kMostBytes + 2 * (NameTable::kMostOfEach + NameTable::kMostOfEach);

// A span of shared memory with the layout
//   u32 magic, u32 version, u32 used, u32 its complement; then `used` bytes of records,
//   each of them: u8 origin, u8 length, the name.
// One process at a time writes. A record is whole before `used` counts it, so that a writer that
// died in between has added nothing.
class NameSlot {
 public:
  // Before: `slot` is aligned to 8 bytes, kNameSlotSize long and outlives this.
  // An empty journal; what was there is forgotten.
  static NameSlot format(std::span<std::byte> slot);

  struct Opened;
  // The journal that is there, with the table that it tells. Refused, untouched, where any byte of
  // it is not as append() would have left it: there is no half of a table.
  static Result<Opened> open(std::span<std::byte> slot);

  // Before: `name` was added to the table of this slot with `origin`, and is not in the slot yet.
  void append(std::string_view name, NameOrigin origin);

 private:
  explicit NameSlot(std::span<std::byte> slot) : slot_{slot} {}
  void publish(std::uint32_t used);

  std::span<std::byte> slot_;
  std::uint32_t used_ = 0;
};

struct NameSlot::Opened {
  NameSlot slot;
  NameTable table;
};

}  // namespace cordon::egress
