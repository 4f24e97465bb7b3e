// SPDX-License-Identifier: Apache-2.0
// Classes of what happens inside.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "monitor/seen.h"

namespace cordon::monitor {

enum class Class : std::uint8_t {
  exec,       // programs that were started
  writes,     // files that were opened to be written, made, renamed, removed
  connects,   // connections that were tried
  sensitive,  // files with the names of secrets that were read
  refused,    // what a fence refused, of calls and of paths
};

using Classes = std::uint32_t;
constexpr Classes bit_of(Class one) { return Classes{1} << static_cast<unsigned>(one); }

// The names that a policy has for them; what it does not know is left out.
Classes classes_of(std::span<const std::string> names);

// Whether it is of one of them. What failed, and is no connection, is of `refused`.
bool is_of(Classes classes, const Seen& seen);

}  // namespace cordon::monitor
