// SPDX-License-Identifier: Apache-2.0
// Memory that a burst has left free: a node lives for months, and its machine is for sandboxes.
#pragma once

#include "async/task.h"

namespace cordon::node {

// Before the first thread: of a heap that a thread has for itself, what is free at its end could
// not be given back.
void keep_one_heap();

// Gives it back to the machine, twice a minute. Until it is cancelled.
asio::awaitable<void> give_back_memory();

}  // namespace cordon::node
