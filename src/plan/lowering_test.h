// SPDX-License-Identifier: Apache-2.0
// Hosts and situations for tables of lowering.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "plan/lower.h"
#include "policy/policy_text_test.h"

namespace cordon::plan {

// Everything works, with control groups v2.
inline HostFacts full_host(bool root) {
  HostFacts host;
  host.kernel = "6.8.0";
  host.machine = "x86_64";
  host.root = root;
  host.landlock_abi = 7;
  host.cgroup_layout = CgroupLayout::v2;
  host.controllers = {"cpu", "io", "memory", "pids"};
  for (const Feature feature : all_features()) host[feature].support = Support::ok;
  return host;
}

inline HostFacts without(Feature feature, bool root = false) {
  HostFacts host = full_host(root);
  host[feature] = {Support::absent, "taken away", "sudo mend"};
  if (feature == Feature::landlock) host.landlock_abi = 0;
  if (feature == Feature::cgroup) {
    host.cgroup_layout = CgroupLayout::none;
    host.controllers.clear();
  }
  return host;
}

inline Situation situation_of(bool root = false) {
  auto id = SandboxId::parse("k7f3");
  if (!id) throw std::logic_error{id.error().text()};
  Situation situation{.id = *std::move(id)};
  situation.home = root ? "/root" : "/home/ada";
  situation.caller_uid = root ? 0 : 1234;
  situation.caller_gid = root ? 0 : 1235;
  situation.caller_name = root ? "root" : "ada";
  situation.workspace_source = "/srv/shop";
  situation.workspace_target = "/srv/shop";
  situation.state_directory = "/var/lib/cordon/runs/k7f3";
  situation.environment = {{"LANG", "C.UTF-8"}, {"AWS_SECRET", "x"}, {"PATH", "/odd"}};
  situation.typed = {"cordon run", "-- make test"};
  return situation;
}

inline Lowered lowered(std::string_view text, const HostFacts& host, const Situation& situation) {
  auto result = lower(policy::policy_from(text), host, situation);
  if (!result) throw std::logic_error{result.error().text()};
  return *std::move(result);
}
inline Lowered lowered(std::string_view text) {
  return lowered(text, full_host(false), situation_of());
}

// Where nothing is refused: empty.
inline std::vector<Denial> refused(const policy::Policy& policy, const HostFacts& host,
                                   const Situation& situation) {
  std::vector<Denial> refusals;
  const auto result = lower(policy, host, situation, &refusals);
  if (result.has_value() != refusals.empty()) throw std::logic_error{"refusals without failure"};
  return refusals;
}
inline std::vector<Denial> refused(std::string_view text, const Situation& situation) {
  return refused(policy::policy_from(text), full_host(false), situation);
}

inline const Mechanism& mechanism(const Lowered& lowered, std::string_view name) {
  for (const Mechanism& one : lowered.enforcement.mechanisms) {
    if (one.name == name) return one;
  }
  throw std::logic_error{"no mechanism " + std::string{name}};
}

}  // namespace cordon::plan
