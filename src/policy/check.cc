// SPDX-License-Identifier: Apache-2.0
// From a document to a policy: presets laid under it, the rules of its origin, registries looked
// up, indexes built.
#include <algorithm>

#include <fmt/format.h>

#include "policy/checked.h"
#include "policy/extend.h"
#include "policy/origin_rules.h"
#include "policy/policy.h"
#include "policy/text.h"

namespace cordon::policy {
namespace {

// "@npm" becomes one rule for each host that the caller says it stands for. A symbol that stands
// for nothing, or for addresses that no rule can reach, keeps its rule without a host: it matches
// nothing, and describe() says so.
void look_up(PolicyDocument& document, const Registries& registries) {
  std::vector<EgressRule> rules;
  for (const EgressRule& rule : document.network.egress_allowlist.items) {
    const auto known = rule.registry.empty() ? registries.end() : registries.find(rule.registry);
    const std::size_t before = rules.size();
    if (known != registries.end()) {
      for (const RegistryHost& host : known->second) {
        auto pattern = parse_host_pattern(host.host);
        if (!pattern || pattern->wildcard) continue;
        EgressRule& concrete = rules.emplace_back(rule);
        concrete.host = *std::move(pattern);
        concrete.port = host.port;
        concrete.protocol = host.port == 80 ? Protocol::http : Protocol::tls;
      }
    }
    if (rules.size() == before) rules.push_back(rule);
  }
  document.network.egress_allowlist.items = std::move(rules);
}

// A variable that `pass` takes from the caller although a grant keeps its secret outside.
void check_passed(const PolicyDocument& document, Problems& problems) {
  for (const auto& pattern : document.environment.pass.items) {
    const auto takes = [&](const std::string& name) {
      return !name.empty() && glob_matches(pattern.value, name);
    };
    for (const Grant& grant : document.credentials.grants.items) {
      const bool source = grant.source == SecretSource::env && takes(grant.from);
      if (!source && !takes(grant.env)) continue;
      problems.add(
          pattern.place.source == 0 ? pattern.place.mark : Mark{},
          fmt::format("`pass`: {} would hand over {} itself, which grant {} keeps outside; "
                      "remove it",
                      in_quotes(pattern.value), source ? grant.from : grant.env,
                      in_quotes(grant.name)));
    }
  }
}

// Rules over the whole, presets included.
void check_whole(const PolicyDocument& document, Problems& problems) {
  const auto& capabilities = document.process.capabilities.items;
  const bool compat = document.profile && document.profile->value == Profile::compat;
  if (!capabilities.empty() && !compat) {
    problems.add(capabilities.front().place.mark,
                 "`capabilities` need [syscalls] profile = \"compat\": the strict filter refuses "
                 "the calls that use them");
  }
  for (const Grant& grant : document.credentials.grants.items) {
    const bool reachable =
        std::ranges::any_of(document.network.egress_allowlist.items, [&](const EgressRule& rule) {
          return rule.port == 443 && rule.protocol == Protocol::tls &&
                 (rule.host == grant.host ||
                  (rule.host.wildcard && grant.host.name.ends_with("." + rule.host.name)));
        });
    const bool open = document.network.mode && document.network.mode->value == NetworkMode::public_;
    if (!reachable && !open) {
      problems.add(
          grant.place.mark,
          fmt::format("grant {} is bound to {}, which no rule of `egress_allowlist` reaches; "
                      "add \"{}:443\" there",
                      in_quotes(grant.name), grant.host.name, grant.host.name));
    }
  }
}

Result<CheckedDocument> check_document(PolicyDocument document, Origin origin,
                                       const Registries& registries, Problems* problems) {
  Problems found{document.sources.front().name};
  document.sources.front().origin = origin;
  PolicyDocument whole = extend(document, found);
  whole.written = document.written;
  check_origin(whole, origin, found);
  look_up(whole, registries);
  check_whole(whole, found);
  check_passed(whole, found);
  if (problems != nullptr) problems->add_all(found);
  if (!found.empty()) return found.to_error();
  if (origin != Origin::workspace && !whole.resources.pids) {
    whole.resources.pids = Stated<std::uint64_t>{kDefaultPids, {}};
  }
  return CheckedDocument{std::move(whole), origin};
}

}  // namespace

// A preset may name one: then it is not looked into a second time only to know.
bool may_need_registries(const PolicyDocument& document) {
  return !document.extends.empty() ||
         std::ranges::any_of(document.network.egress_allowlist.items,
                             [](const EgressRule& rule) { return !rule.registry.empty(); });
}

Result<Policy> check(PolicyDocument document, Origin origin, const Registries& registries,
                     Problems* problems) {
  if (origin == Origin::workspace) {
    return Error{Errc::invalid,
                 fmt::format("{}: a workspace file is no policy of its own: it can only narrow one",
                             document.sources.front().name)};
  }
  TRY(CheckedDocument checked, check_document(std::move(document), origin, registries, problems));
  return Policy{{std::make_shared<const CheckedDocument>(std::move(checked))}};
}

Result<Policy> narrow(const Policy& policy, PolicyDocument document, const Registries& registries,
                      Problems* problems) {
  TRY(CheckedDocument checked,
      check_document(std::move(document), Origin::workspace, registries, problems));
  Policy::Documents documents = policy.documents_;
  documents.push_back(std::make_shared<const CheckedDocument>(std::move(checked)));
  return Policy{std::move(documents)};
}

}  // namespace cordon::policy
