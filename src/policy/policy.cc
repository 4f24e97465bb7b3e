// SPDX-License-Identifier: Apache-2.0
// The meet over documents.
#include "policy/policy.h"

#include <algorithm>

#include "policy/checked.h"

namespace cordon::policy {
namespace {

// The smaller of two limits; nothing is no limit.
void tighten(std::optional<std::uint64_t>& held, const Maybe<std::uint64_t>& stated) {
  if (stated && (!held || stated->value < *held)) held = stated->value;
}

Limits limits_of(const Policy::Documents& documents) {
  Limits limits;
  for (const auto& checked : documents) {
    const Resources& resources = checked->document().resources;
    const Network& network = checked->document().network;
    tighten(limits.milli_cpus, resources.milli_cpus);
    tighten(limits.memory, resources.memory);
    tighten(limits.pids, resources.pids);
    tighten(limits.disk, resources.disk);
    tighten(limits.inodes, resources.inodes);
    tighten(limits.open_files, resources.open_files);
    tighten(limits.io, resources.io);
    tighten(limits.wall_seconds, resources.wall_seconds);
    tighten(limits.cpu_seconds, resources.cpu_seconds);
    tighten(limits.output, resources.output);
    tighten(limits.egress, resources.egress);
    tighten(limits.requests_per_minute, network.requests_per_minute);
    tighten(limits.connections, network.connections);
    tighten(limits.bandwidth, network.bandwidth);
  }
  return limits;
}

std::vector<std::string> capabilities_of(const Policy::Documents& documents) {
  const auto own = [](const CheckedDocument& checked) {
    std::vector<std::string> names;
    for (const auto& capability : checked.document().process.capabilities.items)
      names.push_back(capability.value);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
  };
  std::vector<std::string> held = own(*documents.front());
  for (const auto& checked : documents) {
    if (checked->narrows_only() && !checked->document().process.capabilities.place) continue;
    const auto theirs = own(*checked);
    std::erase_if(
        held, [&](const std::string& name) { return !std::ranges::binary_search(theirs, name); });
  }
  return held;
}

void require_all(std::vector<std::pair<std::string, int>>& held,
                 const std::vector<Requirement>& more) {
  for (const Requirement& requirement : more) {
    const auto known =
        std::ranges::find(held, requirement.name, &std::pair<std::string, int>::first);
    if (known == held.end()) {
      held.emplace_back(requirement.name, requirement.least);
    } else {
      known->second = std::max(known->second, requirement.least);
    }
  }
}

}  // namespace

std::string_view to_string(Access access) noexcept {
  switch (access) {
    case Access::read:
      return "read";
    case Access::write:
      return "write";
    case Access::exec:
      return "exec";
  }
  return "read";
}

// The lowest answer of all documents, and the first that gave it.
template <class Ask>
Decision Policy::meet(Ask&& ask) const {
  Decision lowest = ask(*documents_.front());
  for (std::uint32_t i = 1; i < documents_.size() && lowest.effect != Effect::deny; ++i) {
    Decision decision = ask(*documents_[i]);
    decision.document = i;
    if (decision.effect < lowest.effect) lowest = decision;
  }
  return lowest;
}

Decision Policy::decide(const PathQuery& query) const {
  return meet([&](const CheckedDocument& d) { return d.decide(query); });
}
Decision Policy::decide(const NetQuery& query) const {
  return meet([&](const CheckedDocument& d) { return d.decide(query); });
}
Decision Policy::decide(const ToolQuery& query) const {
  return meet([&](const CheckedDocument& d) { return d.decide(query); });
}
Decision Policy::decide(const CredentialQuery& query) const {
  return meet([&](const CheckedDocument& d) { return d.decide(query); });
}
Decision Policy::decide_name(std::string_view host) const {
  return meet([&](const CheckedDocument& d) { return d.decide_name(host); });
}
Decision Policy::decide_address(std::string_view quad) const {
  return meet([&](const CheckedDocument& d) { return d.decide_address(quad); });
}
Decision Policy::decide_variable(std::string_view name) const {
  return meet([&](const CheckedDocument& d) { return d.decide_variable(name); });
}
Decision Policy::decide_ingress(std::uint16_t port) const {
  return meet([&](const CheckedDocument& d) { return d.decide_ingress(port); });
}

std::optional<std::uint64_t> Policy::calls_per_minute(const ToolQuery& query) const {
  std::optional<std::uint64_t> least;
  for (const auto& document : documents_) {
    const auto rate = document->calls_per_minute(query);
    if (rate && (!least || *rate < *least)) least = rate;
  }
  return least;
}

Settings Policy::settings() const {
  Settings settings{.profile = Profile::compat, .user = User::either};
  for (const auto& checked : documents_) {
    const PolicyDocument& document = checked->document();
    if (document.isolation)
      settings.isolation = std::max(settings.isolation, document.isolation->value);
    // Absent is the strict answer, but for a workspace file, which then says nothing.
    const bool silent = checked->narrows_only();
    const Profile profile = document.profile ? document.profile->value : Profile::strict;
    if (document.profile || !silent) settings.profile = std::max(settings.profile, profile);
    const User user = document.process.user ? document.process.user->value : User::user;
    if (document.process.user || !silent) settings.user = std::min(settings.user, user);
    require_all(settings.require, document.require);
    settings.review |= document.filesystem.review && document.filesystem.review->value;
    settings.secret_scanning |=
        document.credentials.secret_scanning && document.credentials.secret_scanning->value;
  }
  std::ranges::sort(settings.require);
  settings.capabilities = capabilities_of(documents_);
  settings.limits = limits_of(documents_);
  return settings;
}

Policy attenuate(const Policy& policy, const Policy& by) {
  Policy::Documents documents = policy.documents_;
  documents.insert(documents.end(), by.documents_.begin(), by.documents_.end());
  return Policy{std::move(documents)};
}

}  // namespace cordon::policy
