// SPDX-License-Identifier: Apache-2.0
// Mechanism by mechanism, what will really hold in a sandbox. Shown, recorded, matched against
// `require`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/isolation.h"

namespace cordon {

// Ordered, weakest first.
enum class Hold : std::uint8_t {
  absent,      // nothing holds it
  at_launch,   // true when the program starts, not defended afterwards
  supervised,  // checked from outside at intervals: a breach ends the run, late by at most the
               // interval
  held,        // the kernel refuses a breach
};

std::string_view to_string(Hold hold) noexcept;

struct Mechanism {
  std::string name;  // "landlock", "memory", "pids"
  Hold hold = Hold::absent;
  std::string detail;  // "ABI 7", "sampled every 100 ms"

  friend bool operator==(const Mechanism&, const Mechanism&) = default;
};

struct Enforcement {
  std::vector<Mechanism> mechanisms;
  std::vector<std::string> reported;  // classes of events that the monitor sees here

  friend bool operator==(const Enforcement&, const Enforcement&) = default;
};

// The wall that it tells of: process where it says nothing.
Isolation isolation_of(const Enforcement& enforcement);

}  // namespace cordon
