// SPDX-License-Identifier: Apache-2.0
// One of our standard streams in a loop.
#pragma once

#include <optional>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/task.h"
#include "os/standard_streams.h"

namespace cordon::cli {

// It is shared with whoever started us: it is waited for, and never made non-blocking.
class StandardStream {
 public:
  StandardStream(const asio::any_io_executor& executor, int number, os::Ready what);

  // Until it can be read or written without waiting; false: never again.
  asio::awaitable<bool> ready();
  // All of `bytes`. `unavailable`: whoever read it has gone.
  async::Task<void> write(std::string bytes);
  int number() const noexcept { return number_; }

 private:
  int number_;
  std::optional<asio::posix::stream_descriptor> waiter_;
};

}  // namespace cordon::cli
