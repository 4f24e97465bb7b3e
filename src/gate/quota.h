// SPDX-License-Identifier: Apache-2.0
// How much of a node a tenant may have: the table `[quota]`, and those of tenants, in a node's
// settings and in a release of a fleet's policy (pure).
#pragma once

#include <cstdint>
#include <optional>

#include "policy/section.h"

namespace cordon::gate {

// What may be written there.
inline constexpr std::int64_t kMostSandboxes = 1'000'000;
inline constexpr std::int64_t kMostRate = 100'000;
inline constexpr std::int64_t kMostRequests = 100'000;
inline constexpr std::int64_t kMostMemory = std::int64_t{1} << 50U;
inline constexpr std::int64_t kLeastMemory = std::int64_t{1} << 20U;

// Absent: no bound of this kind but the node's own.
struct Quota {
  std::optional<std::uint64_t> sandboxes;  // alive
  std::optional<std::uint64_t> creates_per_second;
  std::optional<std::uint64_t> milli_cpus;
  std::optional<std::uint64_t> memory;
  // Being served, streams with them: so that no tenant has all connections that a node holds.
  std::uint64_t requests = 1024;
  friend bool operator==(const Quota&, const Quota&) = default;
};

// Before: the shape of the table was checked.
Quota read_quota(const policy::Section& section);

// Of each bound the smaller.
Quota lesser(const Quota& one, const Quota& other);

}  // namespace cordon::gate
