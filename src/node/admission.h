// SPDX-License-Identifier: Apache-2.0
// From what a tenant asks for to a plan that may be launched: checked, under every ceiling,
// lowered.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "gate/release.h"
#include "node/held_grant.h"
#include "node/papers.h"
#include "node/room.h"
#include "node/settings.h"
#include "plan/lower.h"
#include "policy/policy.h"
#include "record/denial.h"
#include "record/host_facts.h"
#include "token/authority.h"
#include "wire/requests.h"

namespace cordon::node {

struct Admitted {
  policy::Policy policy;
  plan::Lowered lowered;
  std::chrono::seconds life{};
  std::vector<HeldGrant> grants{};  // of secrets of the tenant; their variables are in `lowered`
};

// Why nothing was admitted, told in full.
struct WhyNotAdmitted {
  policy::Problems problems{"request"};
  std::vector<Denial> denials;
  std::optional<NoRoom> no_room;  // it was not looked at: another node may take it
};

// What a sandbox is for.
enum class Purpose : std::uint8_t {
  use,
  build,  // what is written to its root, an image's, is to become an image
};

// Where a request says nothing: a sandbox of a stranger is never without bounds.
struct DefaultLimits {
  std::uint64_t milli_cpus = 1000;
  std::uint64_t memory = std::uint64_t{512} << 20U;
  std::uint64_t pids = 256;
  std::uint64_t disk = std::uint64_t{256} << 20U;
  std::chrono::seconds life{300};
};

// Of requests since a release holds.
struct ReleaseCounts {
  std::uint64_t admitted = 0;
  std::uint64_t turned_away = 0;  // by it alone: without it they were admitted
};

class Admission {
 public:
  // Reads the ceilings that `settings` names; an Error says which file and what is wrong in it.
  // `settings` outlives it.
  static Result<Admission> create(const Settings& settings, HostFacts host);

  // From here on requests are under it too; nothing: under the node's own ceilings alone.
  void hold_against(std::shared_ptr<const gate::Release> release);
  // Whether a release may hold here: it gives nobody more than the node's own settings do, and
  // what asks for nothing can be made under it. `invalid`: why not, in words.
  Status check(const gate::Release& release) const;
  ReleaseCounts release_counts() const noexcept;

  // The meet of what is asked, the ceilings of node, tenant and release, and those of the token.
  Result<Admitted> admit(const SandboxId& id, const std::string& tenant,
                         wire::CreateRequest request, const token::Authority& authority,
                         WhyNotAdmitted& why, Purpose purpose = Purpose::use) const;

  // One that another node had: as `papers` say, under the ceilings of this node, with what is left
  // of what is given once, and of `grants` those that all of it gives.
  Result<Admitted> admit_again(const SandboxId& id, const std::string& tenant, const Papers& papers,
                               const std::vector<HeldGrant>& grants, std::chrono::seconds life,
                               WhyNotAdmitted& why) const;

  const HostFacts& host() const noexcept { return host_; }

 private:
  Admission(const Settings& settings, HostFacts host)
      : settings_{&settings}, host_{std::move(host)} {}
  // Under the node's own ceilings.
  policy::Policy under_own(const policy::Policy& policy, const std::string& tenant) const;
  Status check_plainest(const gate::Release& release, const std::string& tenant) const;
  Result<plan::Lowered> lower(const SandboxId& id, const std::string& tenant,
                              const policy::Policy& policy, Purpose purpose,
                              WhyNotAdmitted& why) const;

  const Settings* settings_;
  HostFacts host_;
  std::optional<policy::Policy> ceiling_;                  // of the node
  std::map<std::string, policy::Policy> tenant_ceilings_;  // of those that have one
  // The release is also of the quotas; what is counted is nobody's but ours.
  struct Held {
    std::shared_ptr<const gate::Release> release;
    ReleaseCounts counts{};
  };
  std::unique_ptr<Held> held_;
};

}  // namespace cordon::node
