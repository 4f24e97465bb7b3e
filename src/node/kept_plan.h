// SPDX-License-Identifier: Apache-2.0
// A lowered plan and its grants as the journal keeps them: what a node that comes back must know of
// a sandbox that lives, as it was launched and not as it would be lowered today. No secret is in
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/budgets.h"
#include "node/held_grant.h"
#include "node/papers.h"
#include "plan/lower.h"

namespace cordon::node {

struct KeptSandbox {
  plan::Lowered lowered;
  std::vector<HeldGrant> grants;
  std::vector<Charge> charges;
  Papers papers;
};

std::string kept_text(const plan::Lowered& lowered, const std::vector<HeldGrant>& grants,
                      const std::vector<Charge>& charges, const Papers& papers = {});
// `invalid`: not what kept_text() writes.
Result<KeptSandbox> read_kept(std::string_view text);

// The grants alone.
std::string grants_text(const std::vector<HeldGrant>& grants);
Result<std::vector<HeldGrant>> read_grants(std::string_view text);

}  // namespace cordon::node
