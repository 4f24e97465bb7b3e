// SPDX-License-Identifier: Apache-2.0
#include "node/launcher_bond.h"

#include <algorithm>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.h"
#include "os/fault_point.h"

namespace cordon::node {
namespace {

constexpr std::chrono::milliseconds kFirstBondPause{10};
constexpr std::chrono::milliseconds kLongestBondPause{50};

asio::awaitable<void> pause(std::chrono::milliseconds length) {
  asio::steady_timer timer{co_await asio::this_coro::executor, length};
  co_await timer.async_wait(asio::use_awaitable);
}

async::Task<std::size_t> begin_anew(sandbox::LauncherLink& launcher,
                                    sandbox::ServiceBackend& backend, Monitor& monitor,
                                    const std::optional<KeptListeners>& listeners) {
  CO_TRY_DO(co_await launcher.renew());
  os::fault_point("node.bond.renewed");
  if (listeners) CO_TRY_DO(co_await listeners->deposit());
  CO_TRY_DO(co_await monitor.deposit());
  co_return co_await backend.deposit_all();
}

}  // namespace

asio::awaitable<void> keep_bond(sandbox::LauncherLink& launcher, sandbox::ServiceBackend& backend,
                                Monitor& monitor, const std::optional<KeptListeners>& listeners) {
  for (;;) {
    co_await launcher.until_lost();
    if (!launcher.is_lost()) continue;
    log(LogLevel::warning, "node", "the launcher has ended: waiting for the next one");
    std::chrono::milliseconds wait = kFirstBondPause;
    for (;;) {
      const auto deposited = co_await begin_anew(launcher, backend, monitor, listeners);
      if (deposited) {
        log(LogLevel::info, "node", "found the next launcher",
            {{"sandboxes", static_cast<std::int64_t>(*deposited)}});
        break;
      }
      co_await pause(wait);
      wait = std::min(wait * 2, kLongestBondPause);
    }
  }
}

}  // namespace cordon::node
