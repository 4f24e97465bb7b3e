// SPDX-License-Identifier: Apache-2.0
// A release of a fleet's policy: what all nodes hold new sandboxes against beside their own
// settings, which stay the outer bound (pure).
//
// [ceiling]              a policy, with all its keys
// [quota]                of each tenant without one of its own
// [tenants.acme]         the keys of [quota]
// [tenants.acme.ceiling] a policy
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gate/quota.h"
#include "policy/policy.h"
#include "policy/problem.h"

namespace cordon::gate {

struct Release {
  struct Tenant {
    Quota quota;
    std::optional<policy::Policy> ceiling;
  };
  std::optional<policy::Policy> ceiling;  // of every sandbox
  Quota quota;
  std::map<std::string, Tenant, std::less<>> tenants;

  const Quota& quota_of(std::string_view tenant) const;
  // `policy` under the ceilings for the tenant: never wider than it was.
  policy::Policy narrowed(const policy::Policy& policy, std::string_view tenant) const;
};

// One is kept by etcd, twice, and sent over each node's socket.
inline constexpr std::size_t kLargestRelease = std::size_t{256} << 10U;

// TOML, or JSON where it begins with `{`. All that is wrong goes to `problems`, each with its line.
// It names no files: whoever reads it has none but itself. `name` is what messages call it.
Result<Release> read_release(std::string_view text, const std::string& name,
                             policy::Problems& problems);

}  // namespace cordon::gate
