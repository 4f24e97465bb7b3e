// SPDX-License-Identifier: Apache-2.0
// The exit codes of `cordon`: stable, and listed in docs/cli.md.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace cordon::cli {

enum class Exit : std::uint8_t {
  ok = 0,           // done; allowed; level reached
  no = 1,           // the answer is no: denied, refused by check, a test failed, level not reached
  usage = 2,        // the command line is wrong
  ask = 3,          // the answer is: a human must be asked
  not_found = 4,    // a file or thing named on the command line does not exist or cannot be read
  unavailable = 5,  // this host cannot do it
  internal = 70,    // a defect of ours
  not_started = 125,  // reserved for `cordon run`: Cordon failed before the command started
  refused = 126,      // reserved for `cordon run`: refused by policy before the command started
};

// Where errors end: the one table from what a caller can do about it to the exit code.
Exit exit_of(Errc code) noexcept;

}  // namespace cordon::cli
