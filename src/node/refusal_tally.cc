// SPDX-License-Identifier: Apache-2.0
#include "node/refusal_tally.h"

#include <fmt/format.h>

namespace cordon::node {
namespace {

constexpr std::string_view kOthers = "CORDON-AUDIT-SUPPRESSED";

}  // namespace

std::vector<Denial> RefusalTally::flush() {
  std::vector<Denial> told;
  told.reserve(counted_.size());
  for (const auto& [code, count] : counted_) {
    told.push_back(
        {.code = code,
         .tried = "more of the same second",
         .rule = "default",
         .why = fmt::format("of more than {} refusals in a second the rest is counted", most_),
         .count = count});
  }
  counted_.clear();
  return told;
}

std::vector<Denial> RefusalTally::take(const Denial& denial, Ticks now) {
  std::vector<Denial> told;
  if (each_.begins(now)) told = flush();
  if (each_.take()) {
    told.push_back(denial);
    return told;
  }
  const bool has_room = counted_.size() < kKinds || counted_.contains(denial.code);
  counted_[has_room ? denial.code : std::string{kOthers}] += denial.count;
  return told;
}

}  // namespace cordon::node
