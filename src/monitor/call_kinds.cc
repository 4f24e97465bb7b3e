// SPDX-License-Identifier: Apache-2.0
#include "monitor/call_kinds.h"

#include <asm/types.h>
#include <asm/unistd.h>

#include "os/filter/judged_call.h"

namespace cordon::monitor {
namespace {

// C's table, as it is.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-designator"
#pragma clang diagnostic ignored "-Wpragma-once-outside-header"
#pragma clang diagnostic ignored "-Wunused-const-variable"
#include "recorder/kernel/calls.inc"
#pragma clang diagnostic pop

std::optional<unsigned> base_of(const call_kind& kind) {
  if (kind.base == NO_BASE) return std::nullopt;
  return kind.base;
}

// In renameat and linkat each path has a directory before it; what a symbolic link holds begins
// nowhere.
std::optional<CallKind::Place> second_of(std::uint32_t number, const call_kind& kind) {
  if (kind.second == 0 || os::call_name(number).starts_with("symlink")) return std::nullopt;
  const unsigned path = kind.second - 1U;
  if (kind.base == NO_BASE) return CallKind::Place{.path = path, .base = std::nullopt};
  return CallKind::Place{.path = path, .base = path - 1U};
}

}  // namespace

std::optional<CallKind> call_kind_of(std::uint32_t number) {
  if (number >= CALLS) return std::nullopt;
  const call_kind& kind = call_kinds[number];
  CallKind known{.first = {.path = kind.path, .base = base_of(kind)},
                 .second = second_of(number, kind)};
  switch (kind.of) {
    case CALL_OPEN:
      if (kind.flags == FLAGS_BEHIND_2) return std::nullopt;
      known.of = CallKind::Of::open;
      known.creates = kind.flags == FLAGS_CREATE;
      if (!known.creates) known.flags = kind.flags;
      return known;
    case CALL_PATH:
      return known;
    case CALL_EXEC:
      known.of = CallKind::Of::exec;
      return known;
    case CALL_CONNECT:
      known.of = CallKind::Of::connect;
      return known;
    default:
      return std::nullopt;
  }
}

}  // namespace cordon::monitor
