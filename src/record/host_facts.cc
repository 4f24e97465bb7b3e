// SPDX-License-Identifier: Apache-2.0
#include "record/host_facts.h"

#include <algorithm>

namespace cordon {
namespace {

constexpr std::array<Feature, kFeatureCount> kAll = {
    Feature::user_namespaces,
    Feature::id_ranges,
    Feature::namespaces,
    Feature::mount_api,
    Feature::idmapped_mounts,
    Feature::overlay,
    Feature::disk_images,
    Feature::seccomp,
    Feature::seccomp_notify,
    Feature::landlock,
    Feature::cgroup,
    Feature::cgroup_kill,
    Feature::pidfd,
    Feature::openat2,
    Feature::network_filter,
    Feature::ebpf,
    Feature::kvm,
    Feature::gvisor,
    Feature::microvm,
};

// Without one of these no sandbox can be built at all.
constexpr std::array kNeededToLaunch = {Feature::user_namespaces, Feature::namespaces,
                                        Feature::mount_api,       Feature::seccomp,
                                        Feature::pidfd,           Feature::openat2};
// Without one of these a sandbox is weaker, and says so.
constexpr std::array kNeededForFull = {Feature::landlock, Feature::cgroup};

}  // namespace

std::span<const Feature> all_features() noexcept { return kAll; }

std::string_view to_string(Feature feature) noexcept {
  switch (feature) {
    case Feature::user_namespaces:
      return "user_namespaces";
    case Feature::id_ranges:
      return "id_ranges";
    case Feature::namespaces:
      return "namespaces";
    case Feature::mount_api:
      return "mount_api";
    case Feature::idmapped_mounts:
      return "idmapped_mounts";
    case Feature::overlay:
      return "overlay";
    case Feature::disk_images:
      return "disk_images";
    case Feature::seccomp:
      return "seccomp";
    case Feature::seccomp_notify:
      return "seccomp_notify";
    case Feature::landlock:
      return "landlock";
    case Feature::cgroup:
      return "cgroup";
    case Feature::cgroup_kill:
      return "cgroup_kill";
    case Feature::pidfd:
      return "pidfd";
    case Feature::openat2:
      return "openat2";
    case Feature::network_filter:
      return "network_filter";
    case Feature::ebpf:
      return "ebpf";
    case Feature::kvm:
      return "kvm";
    case Feature::gvisor:
      return "gvisor";
    case Feature::microvm:
      return "microvm";
  }
  return "unknown";
}

std::string_view to_string(Support support) noexcept {
  switch (support) {
    case Support::not_probed:
      return "not_probed";
    case Support::ok:
      return "ok";
    case Support::limited:
      return "limited";
    case Support::blocked:
      return "blocked";
    case Support::absent:
      return "absent";
  }
  return "not_probed";
}

std::string_view to_string(CgroupLayout layout) noexcept {
  switch (layout) {
    case CgroupLayout::none:
      return "none";
    case CgroupLayout::v1:
      return "v1";
    case CgroupLayout::hybrid:
      return "hybrid";
    case CgroupLayout::v2:
      return "v2";
  }
  return "none";
}

std::string_view to_string(Level level) noexcept {
  switch (level) {
    case Level::none:
      return "none";
    case Level::supervised:
      return "supervised";
    case Level::full:
      return "full";
  }
  return "none";
}

LevelReached level_of(const HostFacts& host) {
  LevelReached reached;
  const auto lacks = [&](Feature feature) { return !host.has(feature); };
  std::ranges::copy_if(kNeededToLaunch, std::back_inserter(reached.missing), lacks);
  const bool launches = reached.missing.empty();
  std::ranges::copy_if(kNeededForFull, std::back_inserter(reached.missing), lacks);
  reached.level = !launches                 ? Level::none
                  : reached.missing.empty() ? Level::full
                                            : Level::supervised;
  return reached;
}

}  // namespace cordon
