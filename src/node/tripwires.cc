// SPDX-License-Identifier: Apache-2.0
#include "node/tripwires.h"

#include <algorithm>

namespace cordon::node {

std::string_view to_string(Counted what) noexcept {
  switch (what) {
    case Counted::denials:
      return "denials";
    case Counted::new_hosts:
      return "new_hosts";
    case Counted::bytes_out:
      return "bytes_out";
    case Counted::processes:
      return "processes";
    case Counted::protected_writes:
      return "protected_writes";
  }
  return "denials";
}

Tripwires::Tripwires(const std::vector<frame::Response>& responses) {
  for (const frame::Response& response : responses) {
    if (!response.is_taken) wires_.push_back({.response = response, .parts = {}});
  }
}

bool Tripwires::counts(Counted what) const noexcept {
  return std::ranges::any_of(
      wires_, [&](const Wire& wire) { return wire.response.when == to_string(what); });
}

std::vector<Tripped> Tripwires::add(Counted what, std::uint64_t amount, Ticks now) {
  std::vector<Tripped> due;
  if (amount == 0) return due;
  for (Wire& wire : wires_) {
    const frame::Response& response = wire.response;
    if (response.when != to_string(what)) continue;
    const std::chrono::milliseconds time{response.within_seconds * 1000};
    while (!wire.parts.empty() && now - wire.parts.front().since > time) {
      wire.sum -= wire.parts.front().amount;
      wire.parts.pop_front();
    }
    if (wire.parts.empty() || now - wire.parts.back().since > time / kParts) {
      wire.parts.push_back({.since = now});
    }
    wire.parts.back().amount += amount;
    wire.sum += amount;
    if (wire.sum > response.more_than) due.push_back({response, wire.sum});
  }
  std::erase_if(wires_, [&](const Wire& wire) { return wire.sum > wire.response.more_than; });
  return due;
}

std::vector<Tripped> Tripwires::meet(const std::string& host, Ticks now) {
  // Whoever is inside chooses how many there are: past these each is taken for a new one.
  if (hosts_.size() < kMostHosts) {
    if (!hosts_.insert(host).second) return {};
  } else if (hosts_.contains(host)) {
    return {};
  }
  return add(Counted::new_hosts, 1, now);
}

std::vector<Tripped> Tripwires::add_total(Counted what, std::uint64_t total, Ticks now) {
  const auto known = std::ranges::find(totals_, what, &std::pair<Counted, std::uint64_t>::first);
  if (known == totals_.end()) {
    totals_.emplace_back(what, total);
    return {};
  }
  // One that begins anew, a successor's, has no past.
  const std::uint64_t more = total >= known->second ? total - known->second : total;
  known->second = total;
  return add(what, more, now);
}

}  // namespace cordon::node
