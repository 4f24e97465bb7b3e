// SPDX-License-Identifier: Apache-2.0
#include "egress/state_file.h"

#include <algorithm>
#include <cstring>

namespace cordon::egress {
namespace {

// Of a slot: the id with its zeros, what was spent and the authority in the first pages, the names
// behind them.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kIdSize = 64;
constexpr std::size_t kHead = kPage * 2;
constexpr std::size_t kSlotSize = kHead + (kNameSlotSize + kPage - 1) / kPage * kPage;

}  // namespace

Result<StateFile> StateFile::open(const os::Fd& file) {
  TRY(os::Mapping mapping, os::Mapping::shared(file, kPage + kSlots * kSlotSize));
  StateFile state{std::move(mapping)};
  std::uint64_t used = 0;
  std::memcpy(&used, state.mapping_.bytes().data(), sizeof used);
  if (used > kSlots) return Error{Errc::invalid, "the state of an earlier cordon-egress is broken"};
  state.used_ = used;
  return state;
}

std::span<std::byte> StateFile::raw(std::size_t index) const {
  return mapping_.bytes().subspan(kPage + index * kSlotSize, kSlotSize);
}

std::string_view StateFile::id_of(std::size_t index) const {
  const char* const text = reinterpret_cast<const char*>(raw(index).data());
  return {text, ::strnlen(text, kIdSize)};
}

Result<StateSlot> StateFile::slot(std::string_view id) {
  if (id.empty() || id.size() >= kIdSize) return Error{Errc::invalid, "an id of a wrong length"};
  std::size_t at = kSlots;
  for (std::size_t i = 0; i < used_; ++i) {
    const std::string_view held = id_of(i);
    if (held == id) {
      at = i;
      break;
    }
    if (held.empty()) at = std::min(at, i);
  }
  if (at == kSlots) at = used_;
  if (at == kSlots) return Error{Errc::exhausted, "too many sandboxes"};
  if (at >= used_) {
    used_ = at + 1;
    const std::uint64_t used = used_;
    std::memcpy(mapping_.bytes().data(), &used, sizeof used);
  }
  const std::span<std::byte> whole = raw(at);
  const bool fresh = id_of(at).empty();
  if (fresh) std::memcpy(whole.data(), id.data(), id.size());
  return StateSlot{.authority = whole.first(kHead).subspan(kIdSize + EgressBudget::kKeptSize),
                   .names = whole.subspan(kHead, kNameSlotSize),
                   .spent = whole.subspan(kIdSize, EgressBudget::kKeptSize),
                   .fresh = fresh};
}

void StateFile::forget(std::string_view id) {
  for (std::size_t i = 0; i < used_; ++i) {
    if (id_of(i) != id) continue;
    std::ranges::fill(raw(i).first(kHead), std::byte{});
    os::Mapping::forget(raw(i));
    return;
  }
}

}  // namespace cordon::egress
