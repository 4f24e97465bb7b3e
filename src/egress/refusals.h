// SPDX-License-Identifier: Apache-2.0
// What was refused, in words that a person and an agent can act on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "egress/budget.h"
#include "frame/egress.h"
#include "policy/policy.h"

namespace cordon::egress {

// The stable codes.
inline constexpr std::string_view kNameRefused = "CORDON-NET-NAME";
inline constexpr std::string_view kHostRefused = "CORDON-NET-HOST";
inline constexpr std::string_view kAddressRefused = "CORDON-NET-ADDRESS";
inline constexpr std::string_view kTlsRefused = "CORDON-NET-TLS";
inline constexpr std::string_view kRequestRefused = "CORDON-NET-REQUEST";
inline constexpr std::string_view kBudgetRefused = "CORDON-NET-BUDGET";
inline constexpr std::string_view kCredentialRefused = "CORDON-NET-CREDENTIAL";
inline constexpr std::string_view kSecretRefused = "CORDON-NET-SECRET";
inline constexpr std::string_view kOutside = "CORDON-NET-OUTSIDE";  // allowed, and not reached

// A name that is not looked up.
frame::NetRefused refused_name(const policy::Policy& policy, std::string_view name);
// A connection, or a request of one, that the policy does not allow.
frame::NetRefused refused_by_policy(const policy::Policy& policy, const policy::NetQuery& query);
// Anything else about a connection.
frame::NetRefused refused_connection(std::string_view code, std::string_view host,
                                     std::uint16_t port, std::string why);

// More than a limit allows. `rule`: of rule_of().
frame::NetRefused refused_budget(std::string_view host, std::uint16_t port, std::string why,
                                 std::string rule);
// Which limit it is and where it is written: "network.connections, cordon.toml:7", or "default of
// network.connections".
std::string rule_of(BudgetKind kind, const frame::NetBudgets& budgets);

}  // namespace cordon::egress
