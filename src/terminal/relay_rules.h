// SPDX-License-Identifier: Apache-2.0
// Which sequences of a sandboxed program reach the caller's terminal.
#pragma once

#include <cstdint>
#include <string_view>

#include "terminal/sequence.h"

namespace cordon::terminal {

enum class Query : std::uint8_t {
  none,
  status,  // answered with exactly CSI 0 n
  other,   // answered with something else
};

struct Ruling {
  bool passes = false;
  std::string_view reason;    // why not; empty when it passes
  Query query = Query::none;  // what passes makes the terminal type an answer
};

// What no rule names does not pass. Switches of modes are judged as a whole here; of one that
// passes, only_known_modes keeps what we can put back.
Ruling judge(const Sequence& sequence);

// The parameters of `CSI ? … h` or `l`, less the modes that are not in kPrivateModes.
std::string only_known_modes(std::string_view parameters);

}  // namespace cordon::terminal
