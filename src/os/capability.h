// SPDX-License-Identifier: Apache-2.0
// The capabilities of the calling thread: reading its five sets, keeping exactly one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "base/result.h"

namespace cordon::os {

// A set of CAP_… numbers of <linux/capability.h>.
class CapabilitySet {
 public:
  constexpr CapabilitySet() noexcept = default;
  constexpr CapabilitySet(std::initializer_list<int> capabilities) noexcept {
    for (const int capability : capabilities) bits_ |= std::uint64_t{1} << unsigned(capability);
  }
  static constexpr CapabilitySet from_bits(std::uint64_t bits) noexcept {
    CapabilitySet set;
    set.bits_ = bits;
    return set;
  }

  constexpr bool has(int capability) const noexcept {
    return ((bits_ >> unsigned(capability)) & 1U) != 0;
  }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr std::uint64_t bits() const noexcept { return bits_; }

  friend constexpr bool operator==(CapabilitySet, CapabilitySet) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};
std::string to_string(CapabilitySet set);  // "cap_kill,cap_setuid"; "" for none

struct CapabilityState {
  CapabilitySet effective;
  CapabilitySet permitted;
  CapabilitySet inheritable;
  CapabilitySet bounding;
  CapabilitySet ambient;
};

Result<CapabilityState> read_capabilities();

// Three of them by one call, where all five take two for each capability that there is: behind a
// user-space kernel every call is dear.
struct HeldCapabilities {
  CapabilitySet effective;
  CapabilitySet permitted;
  CapabilitySet inheritable;
};
Result<HeldCapabilities> held_capabilities();

// Takes all but `kept` from the bounding set, so that no exec brings them back. Needs CAP_SETPCAP
// (denied) as soon as there is something to take.
Status drop_bounding(CapabilitySet kept);

// An exec of an ordinary program then brings nothing along.
Status clear_ambient();

// Leaves effective, permitted and bounding at exactly `kept`, inheritable and ambient empty; a
// capability that the caller does not have is refused (denied), never left out. Capabilities belong
// to a thread: a program with several calls it before starting the others.
Status keep_exactly(CapabilitySet kept);

// The same, but for the bounding set, which is left: for who was started with one that has nothing
// more in it.
Status hold_exactly(CapabilitySet kept);

// Leaves effective, permitted, inheritable and ambient empty, and the bounding set as well where
// the caller may take from it. Without CAP_SETPCAP that stays: it gives nothing to a process with
// no_new_privs.
Status keep_none();

// Leaves effective, permitted, inheritable and ambient at exactly `kept`, so that they survive the
// exec of an ordinary program, and the bounding set at exactly `bounding`, which may be less: what
// is held stays, and no exec brings anything else. Needs CAP_SETPCAP.
Status keep_across_exec(CapabilitySet kept, CapabilitySet bounding);

// With it a change of all user ids away from 0 leaves the permitted set. Cleared by exec.
Status set_keep_capabilities(bool keep);

}  // namespace cordon::os
