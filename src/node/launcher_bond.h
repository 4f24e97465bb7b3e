// SPDX-License-Identifier: Apache-2.0
// A node whose launcher dies goes on: it finds the next one, and gives it what the dead one held.
#pragma once

#include <optional>

#include "async/task.h"
#include "node/kept_listeners.h"
#include "node/monitor.h"
#include "sandbox/process/launcher_link.h"
#include "sandbox/process/service_backend.h"

namespace cordon::node {

// Until it is cancelled. All outlive it. `listeners`: once there are any.
asio::awaitable<void> keep_bond(sandbox::LauncherLink& launcher, sandbox::ServiceBackend& backend,
                                Monitor& monitor, const std::optional<KeptListeners>& listeners);

}  // namespace cordon::node
