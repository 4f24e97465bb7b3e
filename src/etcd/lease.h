// SPDX-License-Identifier: Apache-2.0
// A lease that lives as long as this process keeps it.
#pragma once

#include <chrono>
#include <functional>

#include "async/task.h"
#include "base/clock.h"
#include "etcd/client.h"
#include "etcd/values.h"

namespace cordon::etcd {

// Of its own choosing, so that a grant may be repeated. Not a secret.
LeaseId fresh_lease_id();

// Asks three times in a `ttl` that the lease live on, until it is cancelled, or the lease is gone:
// Errc::not_found, and its keys with it. `kept(until)` follows each answer: before then it cannot
// have expired. After an outage a lease may well live longer than that: a new leader grants each
// one its whole time again.
async::Task<void> keep_alive(Client& client, LeaseId lease, std::chrono::seconds ttl,
                             std::function<void(Ticks until)> kept);

// Asks once that it live its whole time from now on. `not_found`: it is gone.
async::Task<void> renew(Client& client, LeaseId lease, Client::Limit limit = Client::kLimit);

}  // namespace cordon::etcd
