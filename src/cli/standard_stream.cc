// SPDX-License-Identifier: Apache-2.0
#include "cli/standard_stream.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace cordon::cli {

StandardStream::StandardStream(const asio::any_io_executor& executor, int number, os::Ready what)
    : number_{number} {
  // A file is always ready and cannot be waited for.
  if (!os::can_wait_for(number)) return;
  if (auto ready = os::readiness_of(number, what)) waiter_.emplace(executor, ready->release());
}

asio::awaitable<bool> StandardStream::ready() {
  if (!waiter_) {
    // A turn for the others: a file without end must not keep the loop to itself.
    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    co_return true;
  }
  const auto [error] = co_await waiter_->async_wait(asio::posix::descriptor_base::wait_read,
                                                    asio::as_tuple(asio::use_awaitable));
  co_return !error;
}

async::Task<void> StandardStream::write(std::string bytes) {
  for (std::string_view rest = bytes; !rest.empty();) {
    if (!co_await ready()) {
      co_return Error{Errc::unavailable, "the caller's stream"};
    }
    CO_TRY(const std::size_t count, os::write_when_ready(number_, rest));
    rest.remove_prefix(count);
  }
  co_return Status{};
}

}  // namespace cordon::cli
