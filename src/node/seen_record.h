// SPDX-License-Identifier: Apache-2.0
// What was seen inside of one sandbox, to its records: acts as they are, refusals each once with
// how often, and what could not be told.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/log.h"
#include "monitor/seen.h"
#include "node/denial_book.h"
#include "node/refusal_tally.h"
#include "node/responses.h"
#include "os/filter/filter.h"
#include "plan/lower.h"
#include "recorder/watch_table.h"

namespace cordon::node {

class SeenRecord {
 public:
  // `log` outlives it. `invalid`: the plan's filter is none of ours.
  static Result<SeenRecord> of(audit::Log& log, audit::Subject subject,
                               const plan::Lowered& lowered);

  // Told of each refusal that is not like one before; it outlives this.
  void when_refused(std::function<void(const Denial&)> act) { when_refused_ = std::move(act); }

  // Counts what it is told; it outlives this.
  void count_in(Responses& responses) { responses_ = &responses; }

  void take(const monitor::Seen& seen);
  // Of all so far, as its source counts; `known()` was told already.
  void take_untold(const recorder::Untold& untold);
  void know(const recorder::Untold& untold) noexcept { told_ = untold; }
  void write();
  bool has_unwritten() const noexcept { return !unwritten_.empty(); }
  // Each once, with how often it was met.
  std::vector<Denial> take_denials() { return denials_.take(); }

 private:
  SeenRecord(audit::Log& log, audit::Subject subject, os::FilterProfile filter,
             const plan::Lowered& lowered)
      : log_{&log},
        subject_{std::move(subject)},
        filter_{filter},
        workspace_{lowered.directory},
        paths_{lowered.paths} {}
  // Made when it is asked for first: most sandboxes are refused nothing.
  const policy::Policy* files();
  bool is_of_a_protected_name(const Denial& denial);

  audit::Log* log_;
  audit::Subject subject_;
  os::FilterProfile filter_;
  std::string workspace_;
  std::vector<frame::PathDocument> paths_;
  std::optional<policy::Policy> files_;
  std::vector<AuditEvent> unwritten_;
  DenialBook denials_;
  RefusalTally refusals_;
  recorder::Untold told_;   // what is known of what was not told
  std::uint64_t lost_ = 0;  // that the log did not take
  std::function<void(const Denial&)> when_refused_;
  Responses* responses_ = nullptr;  // nothing: nobody counts
};

}  // namespace cordon::node
