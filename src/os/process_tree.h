// SPDX-License-Identifier: Apache-2.0
// A process and all below it, measured from outside: for hosts where no control group counts them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <sys/types.h>

namespace cordon::os {

struct TreeUse {
  std::uint64_t memory = 0;         // bytes of their own: anonymous and shared memory, not files
  std::chrono::microseconds cpu{};  // also of children that were reaped
  std::size_t processes = 0;
  std::size_t threads = 0;
  // Of the one with the most memory.
  std::string largest;            // its name
  std::uint32_t largest_pid = 0;  // as it sees itself, in the innermost pid namespace
  std::uint64_t largest_memory = 0;
};

enum class Measure : std::uint8_t {
  counts,  // processes, threads and processor time: half of what there is to read
  memory,  // also memory, and who has the most
};

// A snapshot, and not an atomic one: processes come and go meanwhile. Empty when `root` is gone.
TreeUse measure_tree(pid_t root, Measure what = Measure::memory);

}  // namespace cordon::os
