// SPDX-License-Identifier: Apache-2.0
// capget, capset and the prctl options beside them; libcap only for names.
#include "os/capability.h"

#include <array>
#include <cerrno>
#include <linux/capability.h>
#include <memory>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cordon::os {
namespace {

// The sets are 64 bits wide; the kernel answers EINVAL from the first number that it lacks.
constexpr int kMostCapabilities = 64;

using RawSets = std::array<__user_cap_data_struct, 2>;

Result<RawSets> capget() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  RawSets sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return Error::from_errno("capget");
  return sets;
}

Status capset(const RawSets& sets) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  if (::syscall(SYS_capset, &header, sets.data()) != 0) return Error::from_errno("capset");
  return {};
}

CapabilitySet join(std::uint32_t low, std::uint32_t high) {
  return CapabilitySet::from_bits(low | (std::uint64_t{high} << 32U));
}

// 1, 0, or below 0 when there is no such capability.
int in_bounding(int capability) { return ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0); }
int in_ambient(int capability) {
  return ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0);
}

std::string name_of(int capability) {
  const std::unique_ptr<char, int (*)(void*)> name{
      ::cap_to_name(static_cast<cap_value_t>(capability)), &::cap_free};
  return name ? name.get() : std::to_string(capability);
}

}  // namespace

std::string to_string(CapabilitySet set) {
  std::string names;
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    if (!set.has(capability)) continue;
    if (!names.empty()) names += ',';
    names += name_of(capability);
  }
  return names;
}

Result<HeldCapabilities> held_capabilities() {
  TRY(const RawSets raw, capget());
  return HeldCapabilities{.effective = join(raw[0].effective, raw[1].effective),
                          .permitted = join(raw[0].permitted, raw[1].permitted),
                          .inheritable = join(raw[0].inheritable, raw[1].inheritable)};
}

Result<CapabilityState> read_capabilities() {
  TRY(const HeldCapabilities held, held_capabilities());
  std::uint64_t bounding = 0;
  std::uint64_t ambient = 0;
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    const int bound = in_bounding(capability);
    if (bound < 0 && errno == EINVAL) break;  // past the kernel's last
    if (bound < 0) return Error::from_errno("prctl PR_CAPBSET_READ");
    const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(capability);
    if (bound == 1) bounding |= bit;
    if (in_ambient(capability) == 1) ambient |= bit;
  }
  return CapabilityState{.effective = held.effective,
                         .permitted = held.permitted,
                         .inheritable = held.inheritable,
                         .bounding = CapabilitySet::from_bits(bounding),
                         .ambient = CapabilitySet::from_bits(ambient)};
}

Status drop_bounding(CapabilitySet kept) {
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    const int bound = in_bounding(capability);
    if (bound < 0 && errno == EINVAL) break;  // past the kernel's last
    if (bound < 0) return Error::from_errno("prctl PR_CAPBSET_READ");
    if (bound == 0 || kept.has(capability)) continue;
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      return Error::from_errno("prctl PR_CAPBSET_DROP").with(name_of(capability));
    }
  }
  return {};
}

Status clear_ambient() {
  // A kernel that does not know it (gVisor's) has no such set.
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) {
    return Error::from_errno("prctl PR_CAP_AMBIENT_CLEAR_ALL");
  }
  return {};
}

namespace {

Status set_sets(CapabilitySet held, CapabilitySet inheritable) {
  const auto half = [](CapabilitySet set, unsigned shift) {
    return static_cast<std::uint32_t>(set.bits() >> shift);
  };
  const RawSets exact{{{.effective = half(held, 0),
                        .permitted = half(held, 0),
                        .inheritable = half(inheritable, 0)},
                       {.effective = half(held, 32),
                        .permitted = half(held, 32),
                        .inheritable = half(inheritable, 32)}}};
  auto set = capset(exact);
  if (!set) return std::move(set).error().with(to_string(held));
  return {};
}

Status raise_ambient(CapabilitySet set) {
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    if (!set.has(capability)) continue;
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) {
      return Error::from_errno("prctl PR_CAP_AMBIENT_RAISE").with(name_of(capability));
    }
  }
  return {};
}

}  // namespace

Status keep_exactly(CapabilitySet kept) {
  // The bounding set first: taking from it needs CAP_SETPCAP, which the last step may take away.
  TRY_DO(drop_bounding(kept));
  return hold_exactly(kept);
}

Status hold_exactly(CapabilitySet kept) {
  TRY_DO(clear_ambient());
  return set_sets(kept, {});
}

Status keep_none() {
  TRY(const HeldCapabilities held, held_capabilities());
  if (held.effective.has(CAP_SETPCAP)) TRY_DO(drop_bounding({}));
  return hold_exactly({});
}

Status keep_across_exec(CapabilitySet kept, CapabilitySet bounding) {
  // What is to be inheritable must still be in the bounding set, and taking from that needs
  // CAP_SETPCAP: so it is dropped last of all.
  const auto with_setpcap =
      CapabilitySet::from_bits(kept.bits() | CapabilitySet{CAP_SETPCAP}.bits());
  TRY_DO(clear_ambient());
  TRY_DO(set_sets(with_setpcap, kept));
  TRY_DO(raise_ambient(kept));
  TRY_DO(drop_bounding(bounding));
  return set_sets(kept, kept);
}

Status set_keep_capabilities(bool keep) {
  if (::prctl(PR_SET_KEEPCAPS, keep ? 1 : 0, 0, 0, 0) != 0) {
    return Error::from_errno("prctl PR_SET_KEEPCAPS");
  }
  return {};
}

}  // namespace cordon::os
