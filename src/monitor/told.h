// SPDX-License-Identifier: Apache-2.0
// From what was seen to what is recorded. An error that no fence of ours has answered with is the
// workload's own affair, and never told as a refusal.
#pragma once

#include <optional>
#include <string_view>

#include "monitor/seen.h"
#include "os/filter/filter.h"
#include "policy/policy.h"
#include "record/audit_event.h"

namespace cordon::monitor {

// By what a failure is judged.
struct Judges {
  os::FilterProfile filter = os::FilterProfile::strict;  // that the sandbox's processes are under
  const policy::Policy* files = nullptr;                 // nothing: of files no refusal is told
  std::string_view workspace{};                          // where it is inside
};

// Nothing: there is nothing to tell.
std::optional<AuditEvent> told_of(const Seen& seen, const Judges& judges);
// A call that looks as if the kernel did not have it: programs try those and go on without them. It
// is recorded, and nobody is bothered with it.
inline constexpr std::string_view kAbsentCall = "CORDON-SYSCALL-ABSENT";
// Whether `files` is needed for it.
bool is_failure_of_a_file(const Seen& seen);

}  // namespace cordon::monitor
