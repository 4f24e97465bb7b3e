// SPDX-License-Identifier: Apache-2.0
#include "record/enforcement.h"

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

}  // namespace cordon
