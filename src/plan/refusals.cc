// SPDX-License-Identifier: Apache-2.0
#include "plan/refusals.h"

#include <algorithm>

#include <fmt/format.h>

namespace cordon::plan {

std::string rule_text(const policy::PolicyDocument& document, policy::Place place) {
  return place.mark.line == 0 ? "default" : policy::to_string(document, place);
}

void Refusals::add(Errc code, std::string_view name, Denial denial) {
  denial.code = fmt::format("CORDON-PLAN-{}", name);
  if (std::ranges::find(all_, denial) != all_.end()) return;
  if (all_.empty()) first_ = code;
  all_.push_back(std::move(denial));
}

Error Refusals::to_error() const {
  const Denial& first = all_.front();
  std::string text = fmt::format("{}: {}: {}", first.rule, first.tried, first.why);
  if (all_.size() > 1) {
    text += fmt::format(" (and {} more reason{})", all_.size() - 1, all_.size() == 2 ? "" : "s");
  }
  if (!first.fix.empty()) text += fmt::format("; try: {}", first.fix);
  return {first_, std::move(text)};
}

}  // namespace cordon::plan
