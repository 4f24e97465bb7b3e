// SPDX-License-Identifier: Apache-2.0
#include "egress/reports.h"

#include <algorithm>

namespace cordon::egress {
namespace {

// Whoever is inside chooses paths and names; a record is to be read, and a message to be taken.
constexpr std::size_t kLongestText = 512;

void cut(std::string& text) {
  if (text.size() <= kLongestText) return;
  text.resize(kLongestText);
  text += "...";
}

}  // namespace

void Reports::refused(frame::NetRefused refusal) {
  refusal.id = id_;
  for (std::string* text : {&refusal.tried, &refusal.resolved, &refusal.rule, &refusal.why,
                            &refusal.fix, &refusal.action}) {
    cut(*text);
  }
  auto key = std::pair{refusal.code, refusal.tried};
  if (refusals_.size() >= kMost && !refusals_.contains(key)) {
    refusal.tried = "other names and hosts";
    refusal.fix.clear();
    key = {refusal.code, refusal.tried};
  }
  tell_uses();  // what happened before it is told before it
  const auto [found, added] = refusals_.try_emplace(std::move(key), Counted{std::move(refusal), 0});
  Counted& counted = found->second;
  if (added && send_(frame::EgressToNode{counted.refusal})) return;
  ++counted.untold;
  if (later_) later_();
}

void Reports::used(frame::NetUsed use) {
  use.id = id_;
  for (std::string* text : {&use.host, &use.method, &use.path}) cut(*text);
  const bool waits = use.ended && soon_;
  waiting_.push_back(std::move(use));
  if (!waits || waiting_.size() >= frame::kMostUsesInMessage) return tell_uses();
  if (waiting_.size() == 1) soon_();
}

void Reports::tell_uses() {
  while (!waiting_.empty()) {
    const auto count = std::min(waiting_.size(), frame::kMostUsesInMessage);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    if (!send_(frame::EgressToNode{frame::NetUses{{waiting_.begin(), end}}})) break;
    waiting_.erase(waiting_.begin(), end);
  }
  if (waiting_.empty()) return;
  // It has not read what it was told before.
  if (waiting_.size() > kMostWaiting) {
    lost_ += waiting_.size();
    waiting_.clear();
  } else if (soon_) {
    soon_();
  }
}

void Reports::flush() {
  tell_uses();
  for (auto& [key, counted] : refusals_) {
    if (counted.untold == 0) continue;
    counted.refusal.count = counted.untold;
    if (send_(frame::EgressToNode{counted.refusal})) counted.untold = 0;
  }
  if (lost_ == 0) return;
  const frame::NetRefused loss{.id = id_,
                               .code = "CORDON-NET-LOST",
                               .tried = "tell the node of connections",
                               .rule = "default",
                               .why = "it did not listen, and they are not in its record",
                               .count = lost_};
  if (send_(frame::EgressToNode{loss})) lost_ = 0;
}

}  // namespace cordon::egress
