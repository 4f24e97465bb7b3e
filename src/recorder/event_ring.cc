// SPDX-License-Identifier: Apache-2.0
#include "recorder/event_ring.h"

#include <atomic>
#include <cstdint>
#include <unistd.h>

namespace cordon::recorder {
namespace {

// Before each record: its length, with two bits on top, and a word of the kernel's own.
constexpr std::size_t kRecordHead = 8;
constexpr std::uint32_t kBusy = std::uint32_t{1} << 31U;       // it is still being written
constexpr std::uint32_t kDiscarded = std::uint32_t{1} << 30U;  // it is none

std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

template <class Word>
Word load(const std::byte* at) {
  return std::atomic_ref{*reinterpret_cast<Word*>(const_cast<std::byte*>(at))}.load(
      std::memory_order_acquire);
}

}  // namespace

Result<EventRing> EventRing::open(const os::Fd& ring, std::size_t bytes) {
  TRY(os::Mapping read_to, os::Mapping::of(ring, 0, page(), os::Mapping::Access::write));
  TRY(os::Mapping written,
      os::Mapping::of(ring, page(), page() + 2 * bytes, os::Mapping::Access::read));
  return EventRing{std::move(read_to), std::move(written), bytes};
}

bool EventRing::read(std::size_t most,
                     const std::function<void(std::span<const std::byte>)>& take) {
  auto* const told = reinterpret_cast<std::uint64_t*>(read_to_.bytes().data());
  const std::byte* const data = written_.bytes().data() + page();
  std::uint64_t at = *told;
  const auto end = load<std::uint64_t>(written_.bytes().data());
  for (std::size_t count = 0; count < most; ++count) {
    if (at >= end) return false;
    const std::byte* const record = data + (at & (bytes_ - 1));
    const auto head = load<std::uint32_t>(record);
    if ((head & kBusy) != 0) return false;
    const std::uint32_t length = head & ~(kBusy | kDiscarded);
    if ((head & kDiscarded) == 0) take({record + kRecordHead, length});
    at += (kRecordHead + length + 7) & ~std::uint64_t{7};
    std::atomic_ref{*told}.store(at, std::memory_order_release);
  }
  return true;
}

}  // namespace cordon::recorder
