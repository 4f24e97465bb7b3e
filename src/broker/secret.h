// SPDX-License-Identifier: Apache-2.0
// A header's value with a secret in it, in the only memory that keeps secrets.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "os/locked_memory.h"

namespace cordon::broker {

// Moved, never copied, nor shown: there is no way to a string or to a stream.
class Secret {
 public:
  // `value` with `secret` in each slot of it. `invalid`: it is empty, has characters that end or
  // break a header, or is too long. The error says nothing of what it is.
  static Result<Secret> create(std::string_view value, std::span<const std::byte> secret);

  // The whole value, and where in it the secret lies for the first time.
  std::span<const std::byte> value() const noexcept { return memory_.bytes(); }
  std::size_t offset() const noexcept { return offset_; }
  std::size_t size() const noexcept { return size_; }

 private:
  Secret(os::LockedMemory memory, std::size_t offset, std::size_t size)
      : memory_{std::move(memory)}, offset_{offset}, size_{size} {}
  os::LockedMemory memory_;
  std::size_t offset_;
  std::size_t size_;
};

}  // namespace cordon::broker
