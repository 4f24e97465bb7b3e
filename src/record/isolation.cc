// SPDX-License-Identifier: Apache-2.0
#include "record/isolation.h"

namespace cordon {

std::string_view to_string(Isolation isolation) noexcept {
  switch (isolation) {
    case Isolation::process:
      return "process";
    case Isolation::gvisor:
      return "gvisor";
    case Isolation::microvm:
      return "microvm";
  }
  return "process";
}

std::optional<Isolation> isolation_from(std::string_view text) noexcept {
  for (const Isolation isolation : {Isolation::process, Isolation::gvisor, Isolation::microvm}) {
    if (text == to_string(isolation)) return isolation;
  }
  return std::nullopt;
}

}  // namespace cordon
