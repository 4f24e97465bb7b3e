// SPDX-License-Identifier: Apache-2.0
// Which system calls are told, and where their paths stand among the arguments: the table of the
// program in the kernel, for who is told of calls another way.
#pragma once

#include <cstdint>
#include <optional>

namespace cordon::monitor {

struct CallKind {
  enum class Of : std::uint8_t { open, path, exec, connect };
  // A path, and the directory that it begins at where it is not absolute; without one, the
  // caller's.
  struct Place {
    unsigned path = 0;  // each the number of an argument
    std::optional<unsigned> base;
  };
  Of of = Of::path;
  Place first;
  std::optional<Place> second;
  std::optional<unsigned> flags;  // of an open
  bool creates = false;           // of an open that has none: it makes the file
};

// Nothing: it is none of them, or what it intends is behind a pointer.
std::optional<CallKind> call_kind_of(std::uint32_t number);

}  // namespace cordon::monitor
