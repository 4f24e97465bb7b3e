// SPDX-License-Identifier: Apache-2.0
// Resource limits of a process.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/result.h"

namespace cordon::os {

enum class Rlimit : std::uint8_t {
  address_space = RLIMIT_AS,
  core_size = RLIMIT_CORE,
  cpu_seconds = RLIMIT_CPU,
  data_size = RLIMIT_DATA,
  file_size = RLIMIT_FSIZE,
  locked_memory = RLIMIT_MEMLOCK,
  message_queues = RLIMIT_MSGQUEUE,
  open_files = RLIMIT_NOFILE,
  processes = RLIMIT_NPROC,  // counted for the user in its user namespace, not for the process
  pending_signals = RLIMIT_SIGPENDING,
  stack_size = RLIMIT_STACK,
};

// Nothing: no limit.
struct RlimitValue {
  std::optional<std::uint64_t> soft;  // what the kernel holds now
  std::optional<std::uint64_t> hard;  // how far the process may raise it

  friend bool operator==(const RlimitValue&, const RlimitValue&) = default;
};

// pid 0 means the caller.
Result<RlimitValue> get_rlimit(Rlimit kind, pid_t pid = 0);

// Raising the hard limit needs CAP_SYS_RESOURCE in the initial user namespace, which root need not
// have (denied).
Status set_rlimit(Rlimit kind, const RlimitValue& value, pid_t pid = 0);

}  // namespace cordon::os
