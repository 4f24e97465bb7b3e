// SPDX-License-Identifier: Apache-2.0
#include "plan/admit.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/fencing.h"
#include "plan/responses.h"
#include "policy/keys.h"

namespace cordon::plan {
namespace {

using policy::PolicyDocument;

std::string about(const Fact& fact) {
  std::string text{to_string(fact.support)};
  if (!fact.detail.empty()) text += fmt::format(" ({})", fact.detail);
  return text;
}

// Without these no sandbox of any policy can be built.
void admit_host(const Request& request) {
  const LevelReached reached = level_of(request.host);
  if (reached.level != Level::none) return;
  for (const Feature feature : reached.missing) {
    if (feature == Feature::landlock || feature == Feature::cgroup) continue;
    const Fact& fact = request.host[feature];
    request.refusals.add(
        Errc::unavailable, "HOST",
        {.tried = std::string{to_string(feature)},
         .rule = "default",
         .why = fmt::format("every sandbox needs it, and on this host it is {}", about(fact)),
         .fix = fact.remedy.empty() ? "cordon doctor" : fact.remedy});
  }
}

// Empty when the requirement is held.
std::string why_not_held(const policy::Requirement& requirement, const HostFacts& host) {
  const auto named =
      std::ranges::find(all_features(), requirement.name, [](Feature f) { return to_string(f); });
  if (named == all_features().end()) return "this version does not know it";
  const Fact& fact = host[*named];
  if (*named == Feature::landlock) {
    const int least = std::max(requirement.least, 1);
    if (host.landlock_abi < least)
      return fmt::format("this host has Landlock ABI {}, {} is asked for", host.landlock_abi,
                         least);
    if (least > kNewestLandlock)
      return fmt::format("this version uses Landlock up to ABI {}", kNewestLandlock);
    return {};
  }
  return host.has(*named) ? std::string{} : fmt::format("on this host it is {}", about(fact));
}

void admit_requirements(const Request& request, const PolicyDocument& document) {
  for (const policy::Requirement& requirement : document.require) {
    const std::string why = why_not_held(requirement, request.host);
    if (why.empty()) continue;
    const auto named =
        std::ranges::find(all_features(), requirement.name, [](Feature f) { return to_string(f); });
    const bool remedy = named != all_features().end() && !request.host[*named].remedy.empty();
    request.refusals.add(
        Errc::unavailable, "REQUIRE",
        {.tried = requirement.least > 0
                      ? fmt::format("require {}:{}", requirement.name, requirement.least)
                      : fmt::format("require {}", requirement.name),
         .rule = rule_text(document, requirement.place),
         .why = why,
         .fix = remedy ? request.host[*named].remedy : "cordon doctor"});
  }
}

template <class Refuse>
void admit_wall(const Fact& fact, std::string_view name, const Refuse& refuse) {
  if (fact.support == Support::ok || fact.support == Support::limited) return;
  refuse(fmt::format("on this host {} {}", name, about(fact)),
         fact.remedy.empty() ? "cordon doctor" : fact.remedy);
}

// The wall that a document asks for, or none at all: never a weaker one.
void admit_isolation(const Request& request, const PolicyDocument& document) {
  if (!document.isolation) return;
  const auto refuse = [&](std::string why, std::string fix) {
    request.refusals.add(
        Errc::unavailable, "ISOLATION",
        {.tried = fmt::format("isolation = \"{}\"", to_string(document.isolation->value)),
         .rule = rule_text(document, document.isolation->place),
         .why = std::move(why) + "; a weaker wall is never taken instead",
         .fix = std::move(fix)});
  };
  switch (document.isolation->value) {
    case Isolation::process:
      return;
    case Isolation::gvisor:
      return admit_wall(request.host[Feature::gvisor], "gVisor is", refuse);
    case Isolation::microvm:
      return admit_wall(request.host[Feature::microvm], "a microVM is", refuse);
  }
}

bool is_network_key(const policy::Key& key) {
  return key.path.starts_with("network.") || key.path == "resources.egress_limit";
}

// A key that can only refuse or count what the network does: with no network nothing is left to
// refuse.
bool only_bounds_network(const policy::Key& key) {
  return is_network_key(key) && key.path != "network.ingress" && key.path != "network.host_ports";
}

// The rule that asks for a network, for the message: the mode, else the first thing to reach.
policy::Place place_of_network(const PolicyDocument& document) {
  const policy::Network& network = document.network;
  if (network.mode) return network.mode->place;
  if (!network.egress_allowlist.items.empty()) return network.egress_allowlist.items.front().place;
  if (!network.host_ports.items.empty()) return network.host_ports.items.front().place;
  return network.ask ? network.ask->place : policy::Place{};
}

// With the caller's own id alone runsc has no network stack to put in front of ours.
void admit_engine_network(const Request& request) {
  const PolicyDocument& document = request.policy.documents().front()->document();
  request.refusals.add(
      Errc::unavailable, "NETWORK",
      {.tried = "isolation = \"gvisor\" with a network",
       .rule = rule_text(document, place_of_network(document)),
       .why = "gVisor has a network of its own only with a range of ids, which only root can map",
       .fix = request.with_flag("--no-network")});
}

void admit_network(const Request& request) {
  if (is_offline(request)) return;
  if (request.settings.isolation == Isolation::gvisor && !request.host.root) {
    return admit_engine_network(request);
  }
  const bool can_steer = request.host.has(Feature::network_filter);
  const Fact& fact = request.host[Feature::network_filter];
  for (const auto& checked : request.policy.documents()) {
    const PolicyDocument& document = checked->document();
    const policy::NetworkMode mode = checked->network_mode();
    const bool grants = mode != policy::NetworkMode::none;
    if (checked->narrows_only() || (grants && can_steer)) continue;
    request.refusals.add(
        Errc::unavailable, "NETWORK",
        {.tried = fmt::format("network.mode = \"{}\"", to_string(mode)),
         .rule = rule_text(document, place_of_network(document)),
         .why = grants ? fmt::format("this host cannot steer a sandbox's traffic ({}), and none is "
                                     "let out unjudged",
                                     fact.detail.empty() ? "no nftables" : fact.detail)
                       : fmt::format("{} says nothing of a network, and so allows none; say there "
                                     "what may be reached, or run without",
                                     document.sources.front().name),
         .fix = request.with_flag("--no-network")});
  }
}

bool of_preset(const PolicyDocument& document, policy::Place place) {
  return document.sources[place.source].origin == policy::Origin::builtin;
}

// Whether all classes are that the document names.
bool is_seen(const Request& request, const PolicyDocument& document) {
  switch (request.situation.monitor) {
    case MonitorSource::kernel:
    case MonitorSource::machine:
      return true;
    case MonitorSource::none:
      return false;
    case MonitorSource::witness:
    case MonitorSource::engine:
      break;
  }
  return std::ranges::none_of(document.record.items,
                              [](const auto& stated) { return stated.value == "sensitive"; });
}

bool are_counted(const Request& request, const PolicyDocument& document) {
  return request.situation.monitor != MonitorSource::none ||
         std::ranges::none_of(document.responses, needs_monitor);
}

// What depends on who sees what happens inside.
bool is_held_here(const policy::Key& key, const Request& request, const PolicyDocument& document) {
  if (key.path == "monitor.record") return is_seen(request, document);
  if (key.path == "response") return are_counted(request, document);
  return true;
}

bool is_tool_key(const policy::Key& key) {
  return key.path == "tools" || key.path.starts_with("tools.");
}

std::string why_not_enforced(const policy::Key& key, const Request& request) {
  const bool is_seen_inside = key.path == "response" || key.path == "monitor.record";
  if (key.path == "monitor.record" && request.situation.monitor == MonitorSource::engine) {
    return fmt::format("behind {} what is only read is not told (`sensitive`)",
                       to_string(request.settings.isolation));
  }
  if (is_seen_inside && request.settings.isolation != Isolation::process) {
    return fmt::format(
        "behind {} nobody sees what happens inside (turned off, or one that has no "
        "trace sessions)",
        to_string(request.settings.isolation));
  }
  if (key.path == "response") {
    return "what is refused inside is counted by nobody (turned off, or a kernel that cannot "
           "tell)";
  }
  if (key.path == "monitor.record") {
    return request.situation.monitor == MonitorSource::witness
               ? "in local use what is only read is not seen (`sensitive`): only a node sees it"
               : "what happens inside is seen by nobody (turned off, or a kernel that cannot "
                 "tell)";
  }
  if (is_tool_key(key)) return "calls of tools are judged by `cordon mcp wrap` alone";
  return fmt::format("version {} does not enforce this key", CORDON_VERSION);
}

void admit_keys(const Request& request, const PolicyDocument& document) {
  for (const policy::StatedKey& stated : document.keys) {
    const policy::Key& key = *stated.key;
    if (stated.neutral) continue;
    if (policy::is_enforced(key) && is_held_here(key, request, document)) continue;
    if (key.path == "network.ingress" && request.situation.has_tunnels) continue;
    if (request.situation.has_tool_gate && is_tool_key(key)) continue;
    if (request.situation.drop_network && is_network_key(key)) continue;
    // With no network nothing is left to refuse or to count.
    if (is_offline(request) && only_bounds_network(key)) continue;
    request.refusals.add(
        Errc::unavailable, "KEY",
        {.tried = std::string{key.path},
         .rule = rule_text(document, stated.place),
         .why = fmt::format("{}, and a rule that is not held is worse than none; leave it out{}",
                            why_not_enforced(key, request),
                            of_preset(document, stated.place)
                                ? ", in a policy of your own that does not extend the preset"
                                : ""),
         .fix = is_network_key(key) ? request.with_flag("--no-network")
                                    : Request::show(document, stated.place)});
  }
}

// gVisor's kernel has no way to hand a capability on to a program (no ambient set); the files of a
// machine are served by somebody who has none.
void admit_engine_capabilities(const Request& request) {
  const PolicyDocument& document = request.policy.documents().front()->document();
  const auto& capability = document.process.capabilities.items.front();
  request.refusals.add(Errc::unavailable, "CAPABILITIES",
                       {.tried = fmt::format("process.capabilities: {}", capability.value),
                        .rule = rule_text(document, capability.place),
                        .why = request.settings.isolation == Isolation::gvisor
                                   ? "behind gVisor no program has capabilities"
                                   : "in a virtual machine no program has capabilities",
                        .fix = Request::show(document, capability.place)});
}

void admit_capabilities(const Request& request) {
  if (!request.settings.capabilities.empty() && request.settings.isolation != Isolation::process) {
    return admit_engine_capabilities(request);
  }
  if (request.settings.capabilities.empty() ||
      request.settings.profile == policy::Profile::compat) {
    return;
  }
  const PolicyDocument& document = request.policy.documents().front()->document();
  const auto& capability = document.process.capabilities.items.front();
  const PolicyDocument* strict = &document;
  for (const auto& checked : request.policy.documents()) {
    const auto& profile = checked->document().profile;
    if (profile && profile->value == policy::Profile::strict) strict = &checked->document();
  }
  const policy::Place at = strict->profile ? strict->profile->place : policy::Place{};
  request.refusals.add(
      Errc::unavailable, "CAPABILITIES",
      {.tried = fmt::format("process.capabilities: {}", capability.value),
       .rule = rule_text(document, capability.place),
       .why =
           fmt::format("{} asks for the strict filter, which refuses the calls that use it",
                       at.mark.line == 0 ? strict->sources.front().name : rule_text(*strict, at)),
       .fix = Request::show(*strict, at)});
}

}  // namespace

bool is_offline(const Request& request) {
  using policy::NetworkMode;
  if (request.situation.drop_network) return true;
  const auto& documents = request.policy.documents();
  const auto says_none = [](const auto& checked) {
    const auto& mode = checked->document().network.mode;
    return mode && mode->value == NetworkMode::none;
  };
  const auto grants_none = [](const auto& checked) {
    return checked->network_mode() == NetworkMode::none;
  };
  return std::ranges::any_of(documents, says_none) || std::ranges::all_of(documents, grants_none);
}

bool gives_up_network(const Request& request) {
  return request.situation.drop_network &&
         std::ranges::any_of(request.policy.documents(), [](const auto& checked) {
           return checked->network_mode() != policy::NetworkMode::none;
         });
}

void admit(const Request& request) {
  admit_host(request);
  for (const auto& checked : request.policy.documents()) {
    admit_requirements(request, checked->document());
    admit_isolation(request, checked->document());
  }
  // Before the single keys: it is the reason that most callers meet, and the one with a remedy.
  admit_network(request);
  for (const auto& checked : request.policy.documents()) admit_keys(request, checked->document());
  admit_capabilities(request);
}

}  // namespace cordon::plan
