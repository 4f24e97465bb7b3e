// SPDX-License-Identifier: Apache-2.0
// How a cancelled coroutine is told from a failed one.
#include "async/task.h"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace cordon::async {

bool is_cancellation(const std::exception_ptr& failure) noexcept {
  if (!failure) return false;
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    return error.code() == asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace cordon::async
