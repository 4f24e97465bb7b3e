// SPDX-License-Identifier: Apache-2.0
// The seccomp programs of our own services: each allows what that one program does after its start,
// and nothing else.
#pragma once

#include <cstdint>

#include "os/filter/filter.h"

namespace cordon::os {

enum class OwnProgram : std::uint8_t { broker, egress, files, mcp, notary, relay, unpack };

inline constexpr OwnProgram kOwnPrograms[] = {
    OwnProgram::broker, OwnProgram::egress, OwnProgram::files, OwnProgram::mcp,
    OwnProgram::notary, OwnProgram::relay,  OwnProgram::unpack};

// No list is longer.
inline constexpr std::size_t kMostOwnCalls = 80;

constexpr std::string_view to_string(OwnProgram program) {
  switch (program) {
    case OwnProgram::broker:
      return "broker";
    case OwnProgram::egress:
      return "egress";
    case OwnProgram::files:
      return "files";
    case OwnProgram::mcp:
      return "mcp";
    case OwnProgram::notary:
      return "notary";
    case OwnProgram::relay:
      return "relay";
    case OwnProgram::unpack:
      return "unpack";
  }
  return {};
}

// Calls that are not on the list fail with EPERM; those of another architecture end the process.
FilterProgram own_filter(OwnProgram program);

}  // namespace cordon::os
