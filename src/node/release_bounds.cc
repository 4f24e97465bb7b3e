// SPDX-License-Identifier: Apache-2.0
#include "node/release_bounds.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "policy/checked.h"

namespace cordon::node {
namespace {

struct Bound {
  std::string_view name;
  std::optional<std::uint64_t> stated;
  std::optional<std::uint64_t> own;
};

Error looser(std::string_view where, std::string_view name, std::string_view stated,
             std::string_view own) {
  return Error{Errc::invalid,
               fmt::format("{}.{} = {} is more than this node's own settings allow, {}: they are "
                           "the outer bound; write no more, or change them on the node",
                           where, name, stated, own)};
}

template <std::size_t N>
Status within(std::string_view where, const Bound (&bounds)[N]) {
  for (const Bound& bound : bounds) {
    if (!bound.stated || !bound.own || *bound.stated <= *bound.own) continue;
    return looser(where, bound.name, std::to_string(*bound.stated), std::to_string(*bound.own));
  }
  return {};
}

Status within(std::string_view where, const Quota& stated, const Quota& own) {
  const Bound bounds[] = {{"sandboxes", stated.sandboxes, own.sandboxes},
                          {"creates_per_second", stated.creates_per_second, own.creates_per_second},
                          {"cpus (thousandths)", stated.milli_cpus, own.milli_cpus},
                          {"memory", stated.memory, own.memory}};
  return within(where, bounds);
}

// A number that nobody wrote, a default, has no place.
std::optional<std::uint64_t> written(const policy::Maybe<std::uint64_t>& value) {
  return value && value->place.mark.line != 0 ? std::optional{value->value} : std::nullopt;
}

Status within_limits(std::string_view where, const policy::PolicyDocument& stated,
                     const policy::Limits& own) {
  const policy::Resources& resources = stated.resources;
  const policy::Network& network = stated.network;
  const Bound bounds[] = {
      {"resources.cpu_limit (thousandths)", written(resources.milli_cpus), own.milli_cpus},
      {"resources.memory_limit", written(resources.memory), own.memory},
      {"resources.pids_limit", written(resources.pids), own.pids},
      {"resources.disk_limit", written(resources.disk), own.disk},
      {"resources.inodes_limit", written(resources.inodes), own.inodes},
      {"resources.open_files", written(resources.open_files), own.open_files},
      {"resources.io_limit", written(resources.io), own.io},
      {"resources.timeout_seconds", written(resources.wall_seconds), own.wall_seconds},
      {"resources.cpu_seconds", written(resources.cpu_seconds), own.cpu_seconds},
      {"resources.output_limit", written(resources.output), own.output},
      {"resources.egress_limit", written(resources.egress), own.egress},
      {"network.requests_per_minute", written(network.requests_per_minute),
       own.requests_per_minute},
      {"network.connections", written(network.connections), own.connections},
      {"network.bandwidth", written(network.bandwidth), own.bandwidth}};
  return within(where, bounds);
}

}  // namespace

Status within_own_quotas(const gate::Release& release, const Settings& own) {
  TRY_DO(within("quota", release.quota, own.quota));
  for (const auto& [name, tenant] : release.tenants) {
    const auto found = own.tenants.find(name);
    const Quota& quota = found == own.tenants.end() ? own.quota : found->second.quota;
    TRY_DO(within("tenants." + name, tenant.quota, quota));
  }
  return {};
}

Status within_own_ceiling(const policy::Policy& released, const policy::Policy& own,
                          const std::string& tenant) {
  const std::string where = tenant.empty() ? "ceiling" : "tenants." + tenant + ".ceiling";
  const policy::CheckedDocument& stated = *released.documents().front();
  const policy::PolicyDocument& document = stated.document();
  const policy::Settings settings = own.settings();
  TRY_DO(within_limits(where, document, settings.limits));
  if (document.isolation && document.isolation->value < settings.isolation) {
    return Error{Errc::invalid, fmt::format("{}.isolation = \"{}\" is a weaker wall than this "
                                            "node's own settings ask for, \"{}\"",
                                            where, to_string(document.isolation->value),
                                            to_string(settings.isolation))};
  }
  const policy::NetworkMode mode = own.documents().front()->network_mode();
  if (stated.network_mode() > mode) {
    return looser(where, "network.mode", to_string(stated.network_mode()), to_string(mode));
  }
  for (const policy::EgressRule& rule : document.network.egress_allowlist.items) {
    const bool is_one_name =
        !rule.host.name.empty() && !rule.host.wildcard && !rule.host.is_block();
    if (!is_one_name ||
        own.decide(policy::NetQuery{.host = rule.host.name, .port = rule.port}).effect !=
            policy::Effect::deny) {
      continue;
    }
    return Error{Errc::invalid,
                 fmt::format("{}.network.egress_allowlist: {}:{} is not allowed by this node's own "
                             "settings: they are the outer bound; leave it out, or change them on "
                             "the node",
                             where, rule.host.name, rule.port)};
  }
  return {};
}

}  // namespace cordon::node
