// SPDX-License-Identifier: Apache-2.0
// One refusal, told the same way to a person, an agent and a program.
#pragma once

#include <cstdint>
#include <string>

namespace cordon {

struct Denial {
  std::string code;      // stable, "CORDON-FS-WRITE"
  std::string tried;     // as the program spelled it: "write ~/.cargo/registry/index"
  std::string resolved;  // as it was judged; empty where equal
  std::string rule;      // "cordon.toml:12", or "default" where nothing grants it
  std::string why;       // a sentence
  std::string fix;       // what a human may type, outside, to allow it; empty where nothing may
  std::string action;    // what the agent may do, inside
  bool retry_helps = false;
  std::uint64_t count = 1;

  friend bool operator==(const Denial&, const Denial&) = default;
};

}  // namespace cordon
