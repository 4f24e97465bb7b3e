// SPDX-License-Identifier: Apache-2.0
// How many sandboxes the limits of this machine and user leave room for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "os/probe_identity.h"
#include "os/probe_trial.h"
#include "record/host_facts.h"

namespace cordon::os {

inline constexpr std::uint64_t kFdsPerSandbox = 3;       // in the launcher: control, TCP, UDP
inline constexpr std::uint64_t kReservedFds = 256;       // its own sockets, pools, children
inline constexpr std::uint64_t kPidsPerSandbox = 3;      // pid 1, a spawner, one workload
inline constexpr std::uint64_t kIdsPerSandbox = 65'536;  // as a service

// What was found of the limits; nullopt: none, or not readable.
struct Limits {
  std::optional<std::uint64_t> fds;   // what a launcher can raise its limit to
  std::optional<std::uint64_t> pids;  // the smallest that binds this caller, less what is in use
  std::optional<std::uint64_t> ids;   // that may be given away
  bool root = false;
};

Capacity capacity_of(const Limits& limits);

Capacity probe_capacity(const Caller& caller, const TrialLimit& limit);

// Ids past the first 65,536 in the text of /proc/PID/uid_map: as a service these are never mapped.
std::uint64_t spare_ids(std::string_view uid_map);

}  // namespace cordon::os
