// SPDX-License-Identifier: Apache-2.0
// Task<T>: what every coroutine that can fail returns.
#pragma once

#include <exception>

#include <boost/asio/awaitable.hpp>

#include "base/result.h"

namespace cordon {

namespace asio = boost::asio;

namespace async {

// An Error is an answer; an exception that leaves a task is a bug, or the mark of its cancellation.
template <class T>
using Task = asio::awaitable<Result<T>>;

// True when `failure` is how a cancelled coroutine ends: Asio throws `operation_aborted` out of the
// co_await at which the cancellation reached it.
bool is_cancellation(const std::exception_ptr& failure) noexcept;

}  // namespace async
}  // namespace cordon
