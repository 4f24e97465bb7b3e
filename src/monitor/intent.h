// SPDX-License-Identifier: Apache-2.0
// A call as its caller makes it, before it is done: what a filter's listener is told, with what its
// pointers show. Another thread of the caller may change that at any time: for a record, never for
// a decision.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "monitor/call_kinds.h"
#include "os/process_view.h"
#include "os/seccomp.h"

namespace cordon::monitor {

struct IntendedPath {
  std::string used;  // as it was given
  std::string base;  // absolute: where it begins that is not
};

struct Intent {
  CallKind::Of of = CallKind::Of::path;
  std::uint32_t call = 0;
  std::array<std::uint64_t, 6> arguments{};
  std::uint32_t pid = 0;  // as it is seen inside
  std::uint32_t parent = 0;
  std::string command;
  IntendedPath path;
  std::optional<IntendedPath> second;
  std::uint32_t flags = 0;         // of an open
  std::vector<std::string> texts;  // of an exec: its arguments
  std::string directory;           // of an exec: where it happens
  std::string address;             // of a connect: as the kernel gets it
};

// Nothing: it is no call that is told. The names are the caller's to fill.
std::optional<Intent> read_intent(const os::SeccompNotification& call);

}  // namespace cordon::monitor
