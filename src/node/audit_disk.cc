// SPDX-License-Identifier: Apache-2.0
#include "node/audit_disk.h"

#include <chrono>

#include "async/offload.h"
#include "async/waiting.h"
#include "base/log.h"

namespace cordon::node {
namespace {

// A disk that fails is asked less often.
constexpr std::chrono::seconds kAfterFailure{1};

}  // namespace

AuditDisk::AuditDisk(const asio::any_io_executor& executor, audit::Log& log, AuditSettings settings)
    : log_{log},
      settings_{settings},
      wanted_{executor},
      done_{executor, async::kNever},
      on_disk_{log.size()} {}

AuditDisk::~AuditDisk() { thread_.join(); }

asio::awaitable<void> AuditDisk::keep() {
  for (;;) {
    if (!is_wanted_) {
      wanted_.expires_after(failure_ ? kAfterFailure : settings_.every);
      co_await wanted_.async_wait(async::kQuiet);
    }
    is_wanted_ = false;
    const std::uint64_t size = log_.size();
    if (size == on_disk_ && !failure_) continue;
    const Status synced = co_await async::offload(thread_, [this] { return log_.sync(); });
    if (!synced && !failure_) {
      log(LogLevel::error, "node", "the audit log does not reach its disk: nothing new is begun",
          {{"failure", synced.error().text()}});
    } else if (synced && failure_) {
      log(LogLevel::warning, "node", "the audit log reaches its disk again", {});
    }
    failure_ = synced ? std::nullopt : std::optional{synced.error()};
    if (synced) on_disk_ = size;
    ++answers_;
    done_.cancel();
  }
}

async::Task<void> AuditDisk::settled() {
  if (settings_.durability == AuditDurability::group) co_return Status{};
  const std::uint64_t size = log_.size();
  while (on_disk_ < size) {
    is_wanted_ = true;
    wanted_.cancel();
    const std::uint64_t before = answers_;
    co_await done_.async_wait(async::kQuiet);
    if (answers_ != before && failure_) co_return Error{Errc::unrecorded, failure_->text()};
  }
  co_return Status{};
}

}  // namespace cordon::node
