// SPDX-License-Identifier: Apache-2.0
#include "egress/name_slot.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "base/bytes.h"

namespace cordon::egress {
namespace {

constexpr std::uint32_t kMagic = 0x4E52434E;  // "NCRN"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kCountAt = 8;  // `used` and its complement, one word of eight bytes

std::uint64_t counted(std::uint32_t used) { return std::uint64_t{~used} << 32U | used; }

Error bad(std::string what) { return {Errc::invalid, "name table: " + std::move(what)}; }

Status read_record(ByteReader& records, NameTable& table) {
  TRY(const auto origin, records.integer<std::uint8_t>());
  TRY(const auto length, records.integer<std::uint8_t>());
  TRY(const auto raw, records.take(length));
  if (origin > static_cast<std::uint8_t>(NameOrigin::fresh)) return bad("an unknown origin");
  const std::string_view name{reinterpret_cast<const char*>(raw.data()), raw.size()};
  TRY(const auto address, table.add(name, static_cast<NameOrigin>(origin)));
  if (!address.added) return bad("a name stands there twice");
  return {};
}

}  // namespace

NameSlot NameSlot::format(std::span<std::byte> slot) {
  assert(slot.size() >= kNameSlotSize);
  NameSlot empty{slot};
  empty.publish(0);
  std::memcpy(slot.data() + sizeof kMagic, &kVersion, sizeof kVersion);
  std::memcpy(slot.data(), &kMagic, sizeof kMagic);
  return empty;
}

Result<NameSlot::Opened> NameSlot::open(std::span<std::byte> slot) {
  if (slot.size() < kNameSlotSize) return bad("a slot that is too small");
  // Copies: whoever else holds the memory could change it between a check and a use.
  std::array<std::byte, kNameSlotHeader> head{};
  std::ranges::copy(slot.first(head.size()), head.begin());
  ByteReader header{head};
  TRY(const auto magic, header.integer<std::uint32_t>());
  TRY(const auto version, header.integer<std::uint32_t>());
  TRY(const auto count, header.integer<std::uint64_t>());
  if (magic != kMagic) return bad("no table is there");
  if (version != kVersion) return bad(fmt::format("version {}, this is {}", version, kVersion));
  const auto used = static_cast<std::uint32_t>(count);
  if (count != counted(used) || used > slot.size() - kNameSlotHeader)
    return bad("a length that cannot be");
  const auto journal = slot.subspan(kNameSlotHeader, used);
  const std::vector<std::byte> copy{journal.begin(), journal.end()};

  NameTable table;
  ByteReader records{copy};
  while (records.left() > 0) TRY_DO(read_record(records, table));
  NameSlot opened{slot};
  opened.used_ = used;
  return Opened{opened, std::move(table)};
}

void NameSlot::append(std::string_view name, NameOrigin origin) {
  const auto free = slot_.subspan(kNameSlotHeader + used_);
  assert(!name.empty() && name.size() <= 253 && free.size() >= name.size() + 2);
  free[0] = static_cast<std::byte>(origin);
  free[1] = static_cast<std::byte>(name.size());
  std::memcpy(free.data() + 2, name.data(), name.size());
  publish(used_ + static_cast<std::uint32_t>(name.size()) + 2);
}

void NameSlot::publish(std::uint32_t used) {
  // One store, after all stores of the record: a death leaves the old count or the new one.
  auto& count = *reinterpret_cast<std::uint64_t*>(slot_.data() + kCountAt);
  std::atomic_ref{count}.store(counted(used), std::memory_order_release);
  used_ = used;
}

}  // namespace cordon::egress
