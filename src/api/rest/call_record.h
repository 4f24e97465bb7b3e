// SPDX-License-Identifier: Apache-2.0
// Requests to API v1 in the audit log: those that change something, before they do, and those that
// are refused.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "api/rest/call.h"
#include "api/rest/routes.h"
#include "async/soon.h"
#include "audit/log.h"
#include "base/clock.h"
#include "node/refusal_tally.h"

namespace cordon::api {

// Used from the loop's thread only.
class CallRecord {
 public:
  // Who shows no good token has so many records of its own in a second, all of them together.
  static constexpr std::size_t kStrangers = 2;

  // All outlive it.
  CallRecord(const asio::any_io_executor& executor, audit::Log& log, const Clock& clock);

  // After it was found that the caller may, before the handler. `unrecorded`: it must not begin.
  Status begun(const Call& call);
  // Once for each, but where there are too many: then with how many.
  void refused(const Call& call, const wire::ProblemAnswer& problem);

 private:
  void append(const audit::Subject& subject, std::vector<Denial> denials);

  audit::Log& log_;
  const Clock& clock_;
  node::RefusalTally tally_;
  // Of those who show no token that is good: anybody who reaches the node can be one.
  node::RefusalTally strangers_{kStrangers};
  async::Soon soon_;
};

}  // namespace cordon::api
