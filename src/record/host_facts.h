// SPDX-License-Identifier: Apache-2.0
// What this machine can enforce. Made only by os::probe_host, from experiments, never from version
// numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon {

enum class Feature : std::uint8_t {
  user_namespaces,  // a process may make one and map ids into it
  id_ranges,        // more ids than the caller's own can be mapped
  namespaces,       // mount, pid, ipc, uts, net and cgroup namespaces inside it
  mount_api,        // fsopen, open_tree, move_mount, mount_setattr
  idmapped_mounts,
  overlay,         // overlayfs with the rights that a sandbox's launcher has
  disk_images,     // a file system in a file of ours, on a loop device
  seccomp,         // filters
  seccomp_notify,  // user notification
  landlock,
  cgroup,       // groups of our own with memory, pids and cpu
  cgroup_kill,  // a group dies at one write
  pidfd,
  openat2,
  network_filter,  // nftables inside a network namespace of our own
  ebpf,
  kvm,
  gvisor,
  microvm,
};
inline constexpr std::size_t kFeatureCount = 19;
std::span<const Feature> all_features() noexcept;
std::string_view to_string(
    Feature feature) noexcept;  // "user_namespaces": the key in JSON; of some also in `require`

enum class Support : std::uint8_t {
  not_probed,  // nothing is claimed
  ok,
  limited,  // works in part: `detail` says which
  blocked,  // the kernel has it, something forbids it: `remedy` may help
  absent,   // the kernel does not have it
};
std::string_view to_string(Support support) noexcept;

struct Fact {
  Support support = Support::not_probed;
  std::string detail;  // "ABI 7", "AppArmor (kernel.apparmor_restrict_unprivileged_userns=1)"
  std::string remedy;  // one command that a person may type, or empty

  friend bool operator==(const Fact&, const Fact&) = default;
};

// How many sandboxes the limits of this machine and user leave room for; nullopt: no limit found.
struct Capacity {
  std::optional<std::uint64_t> by_fds;
  std::optional<std::uint64_t> by_pids;
  std::optional<std::uint64_t> by_ids;
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

enum class CgroupLayout : std::uint8_t { none, v1, hybrid, v2 };
std::string_view to_string(CgroupLayout layout) noexcept;

struct HostFacts {
  std::string kernel;   // "6.18.44"
  std::string machine;  // "x86_64"
  std::string system;   // "Debian GNU/Linux 12 (bookworm)"
  bool root = false;    // effective uid 0 in the initial user namespace
  int landlock_abi = 0;
  CgroupLayout cgroup_layout = CgroupLayout::none;
  std::vector<std::string> controllers;  // in which we may make groups of our own
  std::array<Fact, kFeatureCount> facts;
  std::string gvisor_platform;  // by which runsc runs programs here; empty: it does not
  std::string accelerator;      // of virtual machines: "kvm", "tcg"; empty: there are none
  bool gvisor_traces = false;   // it tells what they do
  bool machine_traces = false;  // a virtual machine does
  Capacity capacity;

  const Fact& operator[](Feature feature) const { return facts[static_cast<std::size_t>(feature)]; }
  Fact& operator[](Feature feature) { return facts[static_cast<std::size_t>(feature)]; }
  bool has(Feature feature) const { return (*this)[feature].support == Support::ok; }

  friend bool operator==(const HostFacts&, const HostFacts&) = default;
};

// How strong a process sandbox this host can hold.
enum class Level : std::uint8_t {
  none,        // a fence that every sandbox needs is missing: nothing is launched
  supervised,  // it can be launched, but a limit is kept by sampling or the second file fence is
               // missing
  full,        // every fence and limit is held by the kernel
};
std::string_view to_string(Level level) noexcept;

struct LevelReached {
  Level level = Level::none;
  std::vector<Feature> missing;  // what keeps it from `full`, the decisive one first
};
LevelReached level_of(const HostFacts& host);

}  // namespace cordon
