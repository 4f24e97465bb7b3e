// SPDX-License-Identifier: Apache-2.0
// From what was seen to what is recorded. An error that no fence of ours has answered with is the
// workload's own affair, and never told as a refusal.
#pragma once

#include <optional>

#include "monitor/seen.h"
#include "os/filter/filter.h"
#include "record/audit_event.h"

namespace cordon::monitor {

// Nothing: there is nothing to tell. `filter`: that the sandbox's processes are under.
std::optional<AuditEvent> told_of(const Seen& seen, os::FilterProfile filter);

}  // namespace cordon::monitor
