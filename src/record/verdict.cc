// SPDX-License-Identifier: Apache-2.0
#include "record/verdict.h"

#include <fmt/format.h>

#include "record/quantity.h"

namespace cordon {
namespace {

std::string quantity_of(Ending ending, std::uint64_t amount) {
  switch (ending) {
    case Ending::memory:
    case Ending::disk:
    case Ending::output:
      return to_size_text(amount);
    case Ending::wall_time:
    case Ending::cpu_time:
      return fmt::format("{} s", amount);
    default:
      return fmt::format("{}", amount);
  }
}

}  // namespace

std::string_view to_string(Ending ending) noexcept {
  switch (ending) {
    case Ending::exit:
      return "exit";
    case Ending::signal:
      return "signal";
    case Ending::wall_time:
      return "wall_time";
    case Ending::cpu_time:
      return "cpu_time";
    case Ending::memory:
      return "memory";
    case Ending::pids:
      return "pids";
    case Ending::disk:
      return "disk";
    case Ending::inodes:
      return "inodes";
    case Ending::output:
      return "output";
    case Ending::policy:
      return "policy";
    case Ending::revoked:
      return "revoked";
    case Ending::killed:
      return "killed";
    case Ending::infrastructure:
      return "infrastructure";
    case Ending::moved:
      return "moved";
  }
  return "infrastructure";
}

std::string to_line(const Verdict& verdict) {
  if (verdict.ending == Ending::exit) return fmt::format("exited: {}", verdict.status);
  if (verdict.ending == Ending::signal) return fmt::format("ended by signal {}", verdict.status);
  std::string line = fmt::format("stopped: {}", to_string(verdict.ending));
  if (verdict.limit != 0) {
    line += fmt::format(": limit {}, peak {}", quantity_of(verdict.ending, verdict.limit),
                        quantity_of(verdict.ending, verdict.peak));
    if (!verdict.culprit.empty()) line += ", " + verdict.culprit;
  } else if (verdict.ending == Ending::moved) {
    line += " to node " + verdict.culprit;
  } else if (!verdict.explanation.empty()) {
    line += ": " + verdict.explanation;
  }
  return line;
}

}  // namespace cordon
