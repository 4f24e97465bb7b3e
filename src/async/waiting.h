// SPDX-License-Identifier: Apache-2.0
// How coroutines wait for what may fail, and for what has no time.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/task.h"

namespace cordon::async {

// The error is a value beside the others, not an exception.
inline constexpr auto kQuiet = asio::as_tuple(asio::use_awaitable);

// Of a timer that only a cancel() ends.
inline constexpr auto kNever = asio::steady_timer::time_point::max();

}  // namespace cordon::async
