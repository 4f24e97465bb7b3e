// SPDX-License-Identifier: Apache-2.0
// What a policy would have said to acts that are recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/run_history.h"
#include "policy/policy.h"

namespace cordon::cli {

// One act, or several with the same answers.
struct Replayed {
  std::string sandbox;
  std::string kind;  // "net", "write"
  std::string what;
  std::uint64_t uses = 0;
  bool was_refused = false;
  policy::Effect now = policy::Effect::deny;
  std::string rule;  // "cordon.toml:18", or "default"
  std::string why;   // a sentence

  bool is_refused_now() const { return now != policy::Effect::allow; }
};

// Where acts are judged: what a sandbox has for itself no policy speaks of.
struct ReplayPlace {
  std::string workspace;           // inside
  std::vector<std::string> homes;  // of which one is the sandbox's own, empty and writable
};

// Each act of the run, in its order. An act that was allowed in a place of the sandbox's own
// (/proc, its home) stays allowed unless a rule hides, protects or mounts it.
std::vector<Replayed> replay(const policy::Policy& policy, const RunHistory& run,
                             const ReplayPlace& place);

}  // namespace cordon::cli
