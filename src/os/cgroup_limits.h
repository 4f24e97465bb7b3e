// SPDX-License-Identifier: Apache-2.0
// What a control group may use and what it has used, in terms that both versions share.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace cordon::os {

// So much processor time in each period; two processors are twice the period.
struct CpuQuota {
  std::chrono::microseconds quota{};
  std::chrono::microseconds period{100'000};
};

// Per second, for the block device major:minor; absent: no limit.
struct IoLimit {
  unsigned major = 0;
  unsigned minor = 0;
  std::optional<std::uint64_t> read_bytes;
  std::optional<std::uint64_t> write_bytes;
  std::optional<std::uint64_t> read_operations;
  std::optional<std::uint64_t> write_operations;
};

// Absent: not written, so that what lies above decides. A limit whose controller is missing is an
// error, never left out.
struct CgroupLimits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> swap_bytes;  // v1 can hold it only beside memory_bytes
  std::optional<std::uint64_t> pids;
  std::optional<CpuQuota> cpu;
  std::vector<IoLimit> io;
};

// Absent: this kernel or this group does not count it.
struct CgroupUsage {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> memory_peak;
  std::optional<std::uint64_t> oom_kills;
  std::optional<std::uint64_t> pids;
  std::optional<std::uint64_t> pids_peak;
  std::optional<std::uint64_t> pids_refused;  // forks that met the limit
  std::optional<std::chrono::microseconds> cpu;
};

}  // namespace cordon::os
