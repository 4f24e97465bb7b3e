// SPDX-License-Identifier: Apache-2.0
// One event of the kernel's, read into values. What it says of paths and arguments is the
// process's own word: it may have changed them since.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace cordon::monitor {

struct SeenExec {
  std::string program;                 // as it was found
  std::vector<std::string> arguments;  // the first of them
  std::string directory;
};
// A call that names a file: to open, make, rename or remove it, or to execute it.
struct SeenFile {
  std::string used;      // as it was given
  std::string resolved;  // absolute, as far as it is known; of a file that was opened, where it is
  std::string second;    // where it goes, as it was given
  std::string second_resolved{};  // the same, absolute; empty: it is not known
  std::uint32_t flags = 0;
  bool is_opened = false;
};
struct SeenConnect {
  std::string address;  // "203.0.113.7", "2001:db8::1", "unix:/run/x", "unix:@name"
  std::uint16_t port = 0;
};
struct SeenCall {};  // one that was refused, of no other kind
struct SeenEnd {};   // of a thread, by its filter

struct Seen {
  std::uint64_t group = 0;  // of version 2
  std::uint32_t pid = 0;    // as it is seen inside
  std::uint32_t parent = 0;
  std::string command;  // the name of the thread, 15 letters at most
  std::uint32_t call = 0;
  std::int64_t result = 0;
  std::array<std::uint64_t, 6> arguments{};
  std::variant<SeenExec, SeenFile, SeenConnect, SeenCall, SeenEnd> what;
};

// From an address as the kernel gets it.
SeenConnect connect_of(std::string_view address);

// `invalid`: it is not as the program writes them.
Result<Seen> read_seen(std::span<const std::byte> bytes);

}  // namespace cordon::monitor
