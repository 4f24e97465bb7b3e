// SPDX-License-Identifier: Apache-2.0
// What a policy says of one server's tools: handed to the filter document by document, and judged
// there by the same rules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/filter_frame.h"
#include "policy/policy.h"

namespace cordon::mcp {

// Only of `server`; what the policy says of anything else stays behind.
std::vector<ToolDocument> tool_documents_of(const policy::Policy& policy, std::string_view server);

// `invalid`: documents that no policy has.
Result<policy::Policy> policy_of(std::span<const ToolDocument> documents);

// Whether the policy refuses the tool whatever its arguments are.
bool is_refused_by_name(const policy::Policy& policy, const policy::ToolQuery& query);

}  // namespace cordon::mcp
