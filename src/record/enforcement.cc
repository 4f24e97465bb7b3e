// SPDX-License-Identifier: Apache-2.0
#include "record/enforcement.h"

#include <algorithm>

namespace cordon {

std::string_view to_string(Hold hold) noexcept {
  switch (hold) {
    case Hold::absent:
      return "absent";
    case Hold::at_launch:
      return "at_launch";
    case Hold::supervised:
      return "supervised";
    case Hold::held:
      return "held";
  }
  return "absent";
}

Isolation isolation_of(const Enforcement& enforcement) {
  const auto said = std::ranges::find(enforcement.mechanisms, "isolation", &Mechanism::name);
  if (said == enforcement.mechanisms.end()) return Isolation::process;
  const std::string_view detail{said->detail};
  return isolation_from(detail.substr(0, detail.find(':'))).value_or(Isolation::process);
}

}  // namespace cordon
