// SPDX-License-Identifier: Apache-2.0
#include "plan/responses.h"

#include <fmt/format.h>

#include "plan/refusals.h"

namespace cordon::plan {

std::vector<frame::Response> responses_of(const policy::Policy& policy) {
  std::vector<frame::Response> all;
  for (const auto& checked : policy.documents()) {
    for (const policy::Response& response : checked->document().responses) {
      all.push_back({.when = response.when,
                     .more_than = response.more_than,
                     .within_seconds = response.within_seconds,
                     .then = response.then,
                     .rule = rule_text(checked->document(), response.place)});
    }
  }
  return all;
}

Mechanism response_mechanism(const std::vector<frame::Response>& responses) {
  std::string detail;
  for (const frame::Response& response : responses) {
    detail +=
        fmt::format("{}more than {} {} in {} s: {}", detail.empty() ? "" : "; ", response.more_than,
                    response.when, response.within_seconds, response.then);
  }
  return {.name = "response", .hold = Hold::supervised, .detail = std::move(detail)};
}

bool needs_monitor(const policy::Response& response) {
  return response.when == "denials" || response.when == "protected_writes";
}

}  // namespace cordon::plan
