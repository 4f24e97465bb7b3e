// SPDX-License-Identifier: Apache-2.0
// Has the audit log of a node signed: every so many records, and every so many seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include "async/task.h"
#include "audit/added_range.h"
#include "audit/head.h"
#include "audit/log.h"
#include "frame/notary.h"
#include "node/settings.h"
#include "os/fd.h"

namespace cordon::node {

// Used from the loop's thread only.
class Sealing {
 public:
  // The link to a new notary.
  using Open = std::function<async::Task<os::Fd>()>;
  // `log` outlives it; `directory` is its own, open for reading.
  Sealing(audit::Log& log, os::Fd directory, Open open, AuditSettings settings)
      : log_{log}, directory_{std::move(directory)}, open_{std::move(open)}, settings_{settings} {}
  Sealing(const Sealing&) = delete;
  Sealing& operator=(const Sealing&) = delete;
  ~Sealing();

  // Until it is cancelled. Where there is no notary that is told once.
  asio::awaitable<void> keep();

  // Records that a head holds, as far as this has heard.
  std::uint64_t sealed() const noexcept { return sealed_; }

 private:
  bool is_due(std::chrono::steady_clock::time_point now) const;
  async::Task<void> seal();
  // These on thread_.
  Status greet();
  Result<audit::Head> ask();

  audit::Log& log_;
  os::Fd directory_;
  Open open_;
  AuditSettings settings_;
  os::Fd link_;
  std::optional<audit::AddedRange> added_;  // from where the notary's last head ended
  std::uint64_t sealed_ = 0;
  std::chrono::steady_clock::time_point last_;
  asio::thread_pool thread_{1};
};

}  // namespace cordon::node
