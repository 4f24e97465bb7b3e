// SPDX-License-Identifier: Apache-2.0
#include "node/audit_feed.h"

#include <limits>

#include <boost/asio/use_awaitable.hpp>

#include "async/offload.h"
#include "audit/record.h"
#include "audit/segment.h"

namespace cordon::node {
namespace {

// Of one turn of a reader: others wait for the thread meanwhile.
constexpr std::size_t kMostRead = 2'000;
constexpr std::size_t kMostBytes = std::size_t{64} << 10U;
constexpr std::chrono::milliseconds kBetweenFeeds{100};

}  // namespace

Result<AuditFeed::Reader> AuditFeed::begin(Wanted wanted) {
  TRY(const auto segments, audit::list_segments(directory_));
  TRY(os::Fd own, os::duplicate(directory_));
  const std::uint64_t oldest = segments.empty() ? 0 : segments.front();
  if (wanted.since && *wanted.since == std::numeric_limits<std::uint64_t>::max()) {
    return Error{Errc::not_found, "there is no such record"};
  }
  const std::uint64_t first = wanted.since ? *wanted.since + 1 : oldest;
  if (first < oldest) {
    TRY(audit::LogReader log, audit::LogReader::open(std::move(own), oldest));
    return Reader{*this, std::move(wanted), std::move(log), oldest - first};
  }
  TRY(audit::LogReader log, audit::LogReader::open(std::move(own), first));
  return Reader{*this, std::move(wanted), std::move(log), 0};
}

async::Task<AuditFeed::Reader> AuditFeed::open(Wanted wanted) {
  co_return co_await async::offload(
      thread_, [this, wanted = std::move(wanted)]() mutable { return begin(std::move(wanted)); });
}

Result<std::string> AuditFeed::Reader::read() {
  std::string lines;
  for (std::size_t count = 0; count < kMostRead && lines.size() < kMostBytes; ++count) {
    TRY(const auto line, log_->next());
    if (!line) break;
    TRY(const audit::Record record, audit::decode(*line));
    const bool may_see = wanted_.tenant.empty() || record.subject.tenant == wanted_.tenant;
    if (may_see && wanted_.query.accepts(record)) lines.append(*line).append("\n");
  }
  return lines;
}

async::Task<std::string> AuditFeed::Reader::next() {
  for (;;) {
    CO_TRY(std::string lines, co_await async::offload(feed_->thread_, [this] { return read(); }));
    if (!lines.empty() || log_->number() >= feed_->log_.size()) co_return lines;
  }
}

asio::awaitable<void> AuditFeed::Reader::news() {
  asio::steady_timer pause{feed_->executor_};
  do {
    pause.expires_after(kBetweenFeeds);
    co_await pause.async_wait(asio::use_awaitable);
  } while (log_->number() >= feed_->log_.size());
}

}  // namespace cordon::node
