// SPDX-License-Identifier: Apache-2.0
// What happened, as a closed variant: adding an alternative breaks every std::visit that forgets
// it.
#pragma once

#include <string>
#include <variant>

#include "record/denial.h"
#include "record/enforcement.h"
#include "record/isolation.h"
#include "record/verdict.h"

namespace cordon {

struct PolicyAccepted {
  std::string digest;
  friend bool operator==(const PolicyAccepted&, const PolicyAccepted&) = default;
};
struct SandboxStarted {
  Isolation isolation = Isolation::process;
  Enforcement enforcement;
  friend bool operator==(const SandboxStarted&, const SandboxStarted&) = default;
};
struct ActRefused {
  Denial denial;
  friend bool operator==(const ActRefused&, const ActRefused&) = default;
};
struct SandboxEnded {
  Verdict verdict;
  friend bool operator==(const SandboxEnded&, const SandboxEnded&) = default;
};

using AuditEvent = std::variant<PolicyAccepted, SandboxStarted, ActRefused, SandboxEnded>;

}  // namespace cordon
