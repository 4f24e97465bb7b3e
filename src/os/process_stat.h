// SPDX-License-Identifier: Apache-2.0
// The line that the kernel keeps of each process: /proc/PID/stat.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <sys/types.h>

#include "base/result.h"

namespace cordon::os {

struct ProcessStat {
  char state = '?';                 // as ps shows it
  std::chrono::microseconds cpu{};  // its own and that of children that were reaped
  std::chrono::microseconds own{};  // without that of children
  std::uint64_t threads = 0;
  std::uint64_t started = 0;  // clock ticks since boot: with the pid, one process and no other

  // It has ended and waits for its parent.
  bool has_ended() const noexcept { return state == 'Z' || state == 'X'; }
};

// `internal`: this is not such a line. The name in it may contain anything, also brackets.
Result<ProcessStat> parse_process_stat(std::string_view line);

// `not_found`: there is no such process.
Result<ProcessStat> read_process_stat(pid_t pid);

}  // namespace cordon::os
