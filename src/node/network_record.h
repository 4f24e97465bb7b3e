// SPDX-License-Identifier: Apache-2.0
// What the network of a run did: recorded as it happens, told at the end.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "audit/log.h"
#include "frame/broker.h"
#include "frame/egress.h"
#include "node/denial_book.h"
#include "node/network.h"
#include "node/refusal_tally.h"
#include "node/responses.h"
#include "node/use_tally.h"
#include "record/denial.h"

namespace cordon::node {

class NetworkRecord {
 public:
  // `log` outlives it. `typed`: how the run was typed, before and behind the place where one more
  // flag goes.
  NetworkRecord(audit::Log& log, audit::Subject subject, std::pair<std::string, std::string> typed)
      : log_{log}, subject_{std::move(subject)}, typed_{std::move(typed)} {}
  NetworkRecord(const NetworkRecord&) = delete;
  NetworkRecord& operator=(const NetworkRecord&) = delete;
  // What was counted is written.
  ~NetworkRecord() { tell_counted(); }

  NetworkEars ears();
  // Told of each refusal that is not like one before.
  void when_refused(std::function<void(const Denial&)> act) { when_refused_ = std::move(act); }
  // Counts what it hears; it outlives this.
  void count_in(Responses& responses) { responses_ = &responses; }
  std::uint64_t sent() const noexcept { return sent_; }
  void used(const frame::GrantUsed& use);
  // Called when something is counted that waits for tell_counted().
  void when_counted(std::function<void()> act) { when_counted_ = std::move(act); }
  void tell_counted();
  // Each once, with how often it was met.
  // One of them says how many records could not be written, where there were such.
  std::vector<Denial> take_denials();

 private:
  void refused(const frame::NetRefused& refusal);
  void used(std::span<const frame::NetUsed> uses);

  void append(const std::vector<AuditEvent>& events);
  void tell_later();

  audit::Log& log_;
  audit::Subject subject_;
  std::pair<std::string, std::string> typed_;
  DenialBook denials_;
  UseTally tally_;
  RefusalTally refusals_;
  std::function<void(const Denial&)> when_refused_;
  std::function<void()> when_counted_;
  Responses* responses_ = nullptr;  // nothing: nobody counts
  std::uint64_t sent_ = 0;          // bytes, as the egress told it last
  std::uint64_t lost_ = 0;          // records that could not be written
  std::string why_lost_;            // the first of them
};

}  // namespace cordon::node
