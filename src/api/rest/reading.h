// SPDX-License-Identifier: Apache-2.0
// From where a client reads what a process writes, and who says that it has it.
#pragma once

#include "api/rest/call.h"
#include "node/resident_process.h"

namespace cordon::api {

struct Reading {
  node::Offsets from{};
  bool acknowledges = true;  // what was sent counts as received
};

// By `stdout`, `stderr` and `acknowledge` of the query. What lies before is acknowledged where the
// client does that itself. `exhausted`, `invalid`: as ResidentProcess::can_read_from.
Result<Reading> reading_of(const Call& call, node::ResidentProcess& process);

// Before it: see ResidentProcess::catch_up.
async::Task<void> catch_up(const Call& call, node::ResidentProcess& process);

}  // namespace cordon::api
