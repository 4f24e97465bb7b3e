// SPDX-License-Identifier: Apache-2.0
// Why a policy decides as it does, in words, and the smallest change that would turn it.
#pragma once

#include <string>
#include <vector>

#include "policy/policy.h"

namespace cordon::policy {

enum class Edit : std::uint8_t {
  add,     // put `value` into the list `key`
  remove,  // take the rule at `at` away
  set,     // give `key` the value `value`
  none,    // no edit of this document can do it; `value` says why
};
std::string_view to_string(Edit edit) noexcept;

// One edit of one file.
struct Change {
  Edit edit = Edit::none;
  std::string file;   // "cordon.toml"
  std::string key;    // "network.egress_allowlist"
  std::string value;  // TOML
  std::string at;     // "cordon.toml:18", the rule that is edited; empty for a new one
  friend bool operator==(const Change&, const Change&) = default;
};
// `add "evil.example:443" to network.egress_allowlist in cordon.toml`
std::string to_string(const Change& change);

struct Explanation {
  Effect effect = Effect::deny;
  std::string rule;      // "cordon.toml:18", or "default" where no rule speaks
  std::string sentence;  // "github.com allows GET, HEAD only"
  // What turns the decision, all of them together: a refusal needs one change for each document
  // that refuses, an allowance one for each rule that allows.
  std::vector<Change> changes;
};

// Where the rule of a decision of this policy stands: "cordon.toml:18", or "default".
std::string rule_of(const Policy& policy, const Decision& decision);

Explanation explain(const Policy& policy, const PathQuery& query);
Explanation explain(const Policy& policy, const NetQuery& query);
Explanation explain(const Policy& policy, const ToolQuery& query);

}  // namespace cordon::policy
