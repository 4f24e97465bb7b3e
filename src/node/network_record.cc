// SPDX-License-Identifier: Apache-2.0
#include "node/network_record.h"

namespace cordon::node {

NetworkEars NetworkRecord::ears() {
  return {.refused = [this](const frame::NetRefused& refusal) { refused(refusal); },
          .used = [this](std::span<const frame::NetUsed> uses) { used(uses); },
          .sent =
              [this](std::uint64_t bytes) {
                sent_ = bytes;
                if (responses_ != nullptr) responses_->total(Counted::bytes_out, bytes);
              }};
}

void NetworkRecord::refused(const frame::NetRefused& refusal) {
  Denial denial{.code = refusal.code,
                .tried = refusal.tried,
                .resolved = refusal.resolved,
                .rule = refusal.rule,
                .why = refusal.why,
                .fix = refusal.fix,
                .action = refusal.action,
                .count = refusal.count};
  if (denial.fix.starts_with("--"))
    denial.fix = typed_.first + " " + denial.fix + " " + typed_.second;
  std::vector<AuditEvent> events;
  for (Denial& told : refusals_.take(denial, std::chrono::steady_clock::now())) {
    events.emplace_back(ActRefused{std::move(told)});
  }
  append(events);
  tell_later();
  if (denials_.add(denial) && when_refused_) when_refused_(denial);
  if (responses_ != nullptr) responses_->refused(denial, false);
}

void NetworkRecord::append(const std::vector<AuditEvent>& events) {
  if (events.empty()) return;
  const Status written = log_.append(subject_, events);
  if (written) return;
  if (lost_ == 0) why_lost_ = written.error().text();
  lost_ += events.size();
}

void NetworkRecord::tell_later() {
  if (when_counted_ && !(tally_.is_empty() && refusals_.is_empty())) when_counted_();
}

void NetworkRecord::tell_counted() {
  std::vector<AuditEvent> rest;
  for (NetworkUsed& use : tally_.flush()) rest.emplace_back(std::move(use));
  for (Denial& denial : refusals_.flush()) rest.emplace_back(ActRefused{std::move(denial)});
  append(rest);
}

std::vector<Denial> NetworkRecord::take_denials() {
  tell_counted();
  std::vector<Denial> all = denials_.take();
  if (lost_ > 0) {
    all.push_back({.code = "CORDON-AUDIT-LOST",
                   .tried = "write records of the network to the audit log",
                   .rule = "default",
                   .why = why_lost_,
                   .count = lost_});
  }
  return all;
}

void NetworkRecord::used(std::span<const frame::NetUsed> uses) {
  const Ticks now = std::chrono::steady_clock::now();
  std::vector<AuditEvent> events;
  events.reserve(uses.size());
  for (const frame::NetUsed& use : uses) {
    for (NetworkUsed& told : tally_.take({.host = use.host,
                                          .port = use.port,
                                          .address = use.address,
                                          .method = use.method,
                                          .path = use.path,
                                          .status = use.status,
                                          .ended = use.ended,
                                          .bytes_out = use.bytes_out,
                                          .bytes_in = use.bytes_in},
                                         now)) {
      events.emplace_back(std::move(told));
    }
  }
  append(events);
  tell_later();
  if (responses_ == nullptr) return;
  for (const frame::NetUsed& use : uses) {
    if (!use.ended) responses_->met(use.host);
  }
}

void NetworkRecord::used(const frame::GrantUsed& use) {
  append({CredentialUsed{.grant = use.grant,
                         .host = use.host,
                         .method = use.method,
                         .path = use.path,
                         .verdict = std::string{to_string(use.verdict)}}});
}

}  // namespace cordon::node
