// SPDX-License-Identifier: Apache-2.0
// The caveats of a token: each takes something away, and none can give. A closed list.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "policy/policy.h"
#include "token/budget.h"
#include "token/mac.h"
#include "token/operation.h"

namespace cordon::token {

inline constexpr std::size_t kLongestTenant = 64;
inline constexpr std::size_t kMostSandboxes = 64;
inline constexpr std::size_t kLongestPath = 1024;
inline constexpr std::size_t kLongestCeiling = 4096;
// The end of the year 9999: what lies behind it cannot be told as a date.
inline constexpr std::chrono::sys_seconds kLastTime{std::chrono::seconds{253'402'300'799}};

struct TenantIs {
  std::string tenant;  // is_name(tenant, kLongestTenant)
  friend bool operator==(const TenantIs&, const TenantIs&) = default;
};
// Empty: no sandbox.
struct SandboxIn {
  std::set<SandboxId> sandboxes;
  friend bool operator==(const SandboxIn&, const SandboxIn&) = default;
};
// Empty: nothing.
struct OperationIn {
  OperationSet operations;
  friend bool operator==(const OperationIn&, const OperationIn&) = default;
};
// The path itself and all below it, by whole names: /a does not cover /ab.
struct PathBelow {
  std::string prefix;  // policy::is_normal_path
  friend bool operator==(const PathBelow&, const PathBelow&) = default;
};
// A policy that a request could state, as JSON: no sandbox is made with more than it allows.
struct PolicyCeiling {
  std::string json;
  friend bool operator==(const PolicyCeiling&, const PolicyCeiling&) = default;
};
// 0 means none at all, never that there is no limit.
struct BudgetOf {
  Quantity quantity = Quantity::sandboxes;
  std::uint64_t most = 0;
  friend bool operator==(const BudgetOf&, const BudgetOf&) = default;
};
// From this second on the token is worth nothing.
struct ExpiresAt {
  std::chrono::sys_seconds time{};
  friend bool operator==(const ExpiresAt&, const ExpiresAt&) = default;
};

using Caveat =
    std::variant<TenantIs, SandboxIn, OperationIn, PathBelow, PolicyCeiling, BudgetOf, ExpiresAt>;

// One byte string for each caveat. `invalid`: it is not within its bounds, or its ceiling is no
// policy.
Result<std::vector<std::byte>> encode(const Caveat& caveat);

// The inverse; refuses what encode() would write otherwise, and kinds that it does not know. Of a
// ceiling only the bounds are looked at: whether it is a policy is asked where it is used.
Result<Caveat> decode_caveat(Bytes bytes);

// What a ceiling allows, where `registries` are those of the node.
Result<policy::Policy> ceiling_policy(const std::string& json,
                                      const policy::Registries& registries);

}  // namespace cordon::token
