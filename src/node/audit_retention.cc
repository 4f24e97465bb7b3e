// SPDX-License-Identifier: Apache-2.0
#include "node/audit_retention.h"

#include <chrono>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "async/offload.h"
#include "audit/retention.h"
#include "base/log.h"

namespace cordon::node {
namespace {

constexpr std::chrono::hours kBetweenDrops{1};

}  // namespace

asio::awaitable<void> keep_audit_days(audit::Log& log, os::Fd directory, std::uint64_t days,
                                      const Clock& clock) {
  if (days == 0) co_return;
  asio::thread_pool thread{1};
  asio::steady_timer pause{co_await asio::this_coro::executor};
  while (true) {
    const WallTime time = clock.wall() - std::chrono::days{static_cast<std::int64_t>(days)};
    const auto dropped =
        co_await async::offload(thread, [&] { return audit::drop_older(log, directory, time); });
    if (!dropped) {
      cordon::log(LogLevel::error, "node", "old records of the audit log were not dropped",
                  {{"failure", dropped.error().text()}});
    } else if (dropped->records > 0) {
      cordon::log(LogLevel::info, "node", "old records of the audit log were dropped",
                  {{"records", static_cast<std::int64_t>(dropped->records)}});
    }
    pause.expires_after(kBetweenDrops);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

}  // namespace cordon::node
