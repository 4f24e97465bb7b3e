// SPDX-License-Identifier: Apache-2.0
// Lets records of the audit log go that are older than the node's settings keep them.
#pragma once

#include <cstdint>

#include "async/task.h"
#include "audit/log.h"
#include "base/clock.h"
#include "os/fd.h"

namespace cordon::node {

// Until it is cancelled; returns at once where `days` is 0. `directory`: of `log`, open for
// reading; `log` and `clock` outlive it.
asio::awaitable<void> keep_audit_days(audit::Log& log, os::Fd directory, std::uint64_t days,
                                      const Clock& clock);

}  // namespace cordon::node
