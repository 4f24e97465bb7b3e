// SPDX-License-Identifier: Apache-2.0
// What outlives a cordon-egress: for each sandbox the names of its addresses, its authority, and
// what it has spent.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/budget.h"
#include "egress/name_slot.h"
#include "os/fd.h"
#include "os/mapping.h"

namespace cordon::egress {

// One sandbox's part of the file; it stays where it is as long as the file is open.
struct StateSlot {
  std::span<std::byte> authority;  // a length of four bytes, then as many bytes; 0: none
  std::span<std::byte> names;      // see NameSlot
  std::span<std::byte> spent;      // see EgressBudget
  bool fresh = false;              // nothing was there
};

class StateFile {
 public:
  // As many sandboxes as a launcher holds.
  static constexpr std::size_t kSlots = 8192;

  static Result<StateFile> open(const os::Fd& file);

  // The slot of `id`, a new one where it has none. `exhausted`: all are taken.
  Result<StateSlot> slot(std::string_view id);
  // All of it is zero again, and the slot is nobody's.
  void forget(std::string_view id);

 private:
  explicit StateFile(os::Mapping mapping) : mapping_{std::move(mapping)} {}
  std::span<std::byte> raw(std::size_t index) const;
  std::string_view id_of(std::size_t index) const;

  os::Mapping mapping_;
  std::size_t used_ = 0;  // slots from here on have never been used; in the file's first page too
};

}  // namespace cordon::egress
