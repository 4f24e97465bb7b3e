// SPDX-License-Identifier: Apache-2.0
#include "token/authority.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "policy/glob.h"
#include "policy/text.h"

namespace cordon::token {
namespace {

Answer no(Refuser by, std::string words) { return {.by = by, .words = std::move(words)}; }

bool covers(std::string_view prefix, std::string_view path) {
  return policy::below(path, prefix).has_value();
}

}  // namespace

struct Authority::Narrow {
  Authority& it;
  const RevocationId& id;

  void operator()(const TenantIs& caveat) const {
    if (it.tenant_ && *it.tenant_ != caveat.tenant) it.two_tenants_ = true;
    it.tenant_ = caveat.tenant;
  }
  void operator()(const SandboxIn& caveat) const {
    if (!it.sandboxes_) {
      it.sandboxes_ = caveat.sandboxes;
      return;
    }
    std::erase_if(*it.sandboxes_,
                  [&](const SandboxId& each) { return !caveat.sandboxes.contains(each); });
  }
  void operator()(const OperationIn& caveat) const { it.operations_.keep(caveat.operations); }
  void operator()(const PathBelow& caveat) const { it.paths_.push_back(caveat.prefix); }
  void operator()(const PolicyCeiling& caveat) const { it.ceilings_.push_back(caveat.json); }
  void operator()(const BudgetOf& caveat) const {
    it.allowances_.push_back({caveat.quantity, caveat.most, id});
  }
  void operator()(const ExpiresAt& caveat) const {
    it.expires_ = it.expires_ ? std::min(*it.expires_, caveat.time) : caveat.time;
  }
};

void Authority::narrow(const Caveat& caveat, const RevocationId& id) {
  std::visit(Narrow{*this, id}, caveat);
  caveats_.push_back({caveat, id});
}

Answer Authority::may(const Query& query, std::chrono::sys_seconds now) const {
  const OperationRow& asked = row_of(query.operation);
  if (is_expired(now)) return no(Refuser::expiry, "this token has expired: ask for a new one");
  if (two_tenants_) {
    return no(Refuser::tenant,
              "this token is bound to two tenants, so to none: ask for a token "
              "with one tenant");
  }
  if (asked.reach == Reach::node && (!is_operator_ || tenant_)) {
    return no(Refuser::tenant,
              fmt::format("{} is an operator's alone: ask for a token made with --operator and "
                          "without --tenant",
                          asked.name));
  }
  if (asked.reach == Reach::tenant && (tenant_ ? *tenant_ != query.tenant : !is_operator_)) {
    return no(Refuser::tenant,
              "this token is for another tenant: ask for a token of the tenant "
              "that it belongs to");
  }
  if (!operations_.has(query.operation)) {
    return no(Refuser::operation,
              fmt::format("this token may not {}: ask for a token with the operation {}",
                          asked.meaning, asked.name));
  }
  if (sandboxes_ && !(query.sandbox && std::ranges::any_of(*sandboxes_, [&](const SandboxId& id) {
                        return id.text() == *query.sandbox;
                      }))) {
    return no(Refuser::sandbox,
              query.sandbox
                  ? fmt::format("this token is for other sandboxes: ask for a token with the "
                                "sandbox {}",
                                policy::in_quotes(*query.sandbox))
                  : fmt::format("this token is for single sandboxes, and {} is not about one of "
                                "them: ask for a token without the caveat on sandboxes",
                                asked.name));
  }
  if (paths_.empty()) return {};
  if (!asked.has_path || !query.path) {
    return no(Refuser::path, fmt::format("this token is for files below {}, and {} is not about "
                                         "one: ask for a token without the caveat on paths",
                                         policy::in_quotes(paths_.back()), asked.name));
  }
  const bool is_normal = policy::is_normal_path(*query.path);
  for (const std::string& prefix : paths_) {
    if (is_normal && covers(prefix, *query.path)) continue;
    return no(Refuser::path,
              fmt::format("this token is for files below {}: ask for a token with "
                          "a path that covers {}",
                          policy::in_quotes(prefix), policy::in_quotes(*query.path)));
  }
  return {};
}

std::optional<std::uint64_t> Authority::most(Quantity quantity) const noexcept {
  std::optional<std::uint64_t> least;
  for (const Allowance& each : allowances_) {
    if (each.quantity == quantity) least = least ? std::min(*least, each.most) : each.most;
  }
  return least;
}

Result<policy::Policy> Authority::under_ceilings(const policy::Policy& asked,
                                                 const policy::Registries& registries) const {
  policy::Policy meet = asked;
  for (const std::string& json : ceilings_) {
    TRY(const policy::Policy ceiling, ceiling_policy(json, registries));
    meet = policy::attenuate(meet, ceiling);
  }
  return meet;
}

}  // namespace cordon::token
