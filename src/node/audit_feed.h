// SPDX-License-Identifier: Apache-2.0
// The audit log as somebody follows it: from a record on, those of one tenant, and on as they are
// written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "async/task.h"
#include "audit/log.h"
#include "audit/log_reader.h"
#include "audit/query.h"
#include "os/fd.h"

namespace cordon::node {

class AuditFeed {
 public:
  // All outlive the readers. `directory`: of `log`, open for reading.
  AuditFeed(asio::any_io_executor executor, const audit::Log& log, os::Fd directory)
      : executor_{std::move(executor)}, log_{log}, directory_{std::move(directory)} {}
  AuditFeed(const AuditFeed&) = delete;
  AuditFeed& operator=(const AuditFeed&) = delete;
  ~AuditFeed() { thread_.join(); }

  // Who may see what: of `tenant` alone; empty: of all, and what is nobody's.
  struct Wanted {
    std::string tenant;
    audit::Query query;
    std::optional<std::uint64_t> since;  // a record that the reader has; nothing: it has none
  };

  // Used by one at a time.
  class Reader {
   public:
    // The next lines, each with its newline; empty: all that there is was looked at.
    async::Task<std::string> next();
    // Until the log has grown since the last next(), or might have.
    asio::awaitable<void> news();
    // Records behind `since` that are not kept any more.
    std::uint64_t dropped() const noexcept { return dropped_; }

   private:
    friend class AuditFeed;
    Reader(AuditFeed& feed, Wanted wanted, audit::LogReader log, std::uint64_t dropped)
        : feed_{&feed},
          wanted_{std::move(wanted)},
          log_{std::make_unique<audit::LogReader>(std::move(log))},
          dropped_{dropped} {}
    Result<std::string> read();  // on the feed's thread

    AuditFeed* feed_;
    Wanted wanted_;
    std::unique_ptr<audit::LogReader> log_;
    std::uint64_t dropped_;
  };

  // `not_found`: no record of that number was written yet.
  async::Task<Reader> open(Wanted wanted);

 private:
  Result<Reader> begin(Wanted wanted);

  asio::any_io_executor executor_;
  const audit::Log& log_;
  os::Fd directory_;
  asio::thread_pool thread_{1};  // a long log is read beside the loop
};

}  // namespace cordon::node
