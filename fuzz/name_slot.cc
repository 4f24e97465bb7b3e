// SPDX-License-Identifier: Apache-2.0
// Any bytes as the memory of a name table: they are refused, or they are a table that is written
// again as it was read, both ways without contradiction.
#include "egress/name_slot.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "promise.h"

namespace {

using cordon::fuzz::broken;

namespace egress = cordon::egress;
using egress::NameOrigin;

// Used again for each input: a slot is half a megabyte.
std::vector<std::byte>& memory() {
  static std::vector<std::byte> slot(egress::kNameSlotSize);
  return slot;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto& slot = memory();
  const auto bytes = std::as_bytes(std::span{data, std::min(size, slot.size())});
  std::ranges::copy(bytes, slot.begin());
  auto opened = egress::NameSlot::open(slot);
  if (!std::ranges::equal(bytes, std::span{slot}.first(bytes.size())))
    broken("opening changes nothing");
  if (opened) {
    for (const NameOrigin origin : {NameOrigin::pinned, NameOrigin::fresh}) {
      for (const auto& name : opened->table.names(origin)) {
        const auto address = opened->table.address_of(name);
        if (!address || opened->table.name_of(*address) != name)
          broken("a name has one address, and the address that name");
      }
    }
    const auto added = opened->table.add("one-more.example", NameOrigin::fresh);
    if (added && added->added) {
      opened->slot.append("one-more.example", NameOrigin::fresh);
      const auto again = egress::NameSlot::open(slot);
      if (!again || again->table != opened->table) broken("a table goes on from where it was");
    }
  }
  std::ranges::fill(std::span{slot}.first(std::min(slot.size(), bytes.size() + 64)), std::byte{0});
  return 0;
}
