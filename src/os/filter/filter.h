// SPDX-License-Identifier: Apache-2.0
// The seccomp programs that the build made: a plan names one, and never carries any.
//
// Only the programs are linked, not the table that they were made from.
#pragma once

#include <cstdint>
#include <linux/filter.h>
#include <optional>
#include <span>
#include <string_view>

namespace cordon::os {

// `strict` and `compat` are for workloads. `nosetid` refuses what could put a set-id bit on a file:
// for sandboxes that write to a mount of the host. `notify` hands execs, connects and calls that
// intend to write to a listener (load with seccomp_load_with_listener; without a listener these
// calls fail with ENOSYS). `init` is for pid 1, before it loads one of the others on top.
enum class FilterProfile : std::uint8_t {
  strict,
  strict_nosetid,
  strict_notify,
  strict_nosetid_notify,
  compat,
  compat_nosetid,
  compat_notify,
  compat_nosetid_notify,
  init,
};

inline constexpr FilterProfile kFilterProfiles[] = {
    FilterProfile::strict,        FilterProfile::strict_nosetid,
    FilterProfile::strict_notify, FilterProfile::strict_nosetid_notify,
    FilterProfile::compat,        FilterProfile::compat_nosetid,
    FilterProfile::compat_notify, FilterProfile::compat_nosetid_notify,
    FilterProfile::init,
};

// "strict", "strict+nosetid", "strict+notify", "strict+nosetid+notify", "compat", ..., "init".
constexpr std::string_view to_string(FilterProfile profile) {
  switch (profile) {
    case FilterProfile::strict:
      return "strict";
    case FilterProfile::strict_nosetid:
      return "strict+nosetid";
    case FilterProfile::strict_notify:
      return "strict+notify";
    case FilterProfile::strict_nosetid_notify:
      return "strict+nosetid+notify";
    case FilterProfile::compat:
      return "compat";
    case FilterProfile::compat_nosetid:
      return "compat+nosetid";
    case FilterProfile::compat_notify:
      return "compat+notify";
    case FilterProfile::compat_nosetid_notify:
      return "compat+nosetid+notify";
    case FilterProfile::init:
      return "init";
  }
  return {};
}

constexpr std::optional<FilterProfile> filter_profile_from_string(std::string_view name) {
  for (const FilterProfile profile : kFilterProfiles) {
    if (to_string(profile) == name) return profile;
  }
  return std::nullopt;
}

// The parts of the name.
constexpr bool is_compat(FilterProfile profile) { return to_string(profile).starts_with("compat"); }
constexpr bool has_nosetid(FilterProfile profile) {
  return to_string(profile).find("+nosetid") != std::string_view::npos;
}
constexpr bool has_notify(FilterProfile profile) { return to_string(profile).ends_with("+notify"); }

using FilterProgram = std::span<const sock_filter>;

// Never empty. Lives as long as the process.
FilterProgram filter_program(FilterProfile profile);
// By name; nothing for a name that no profile has.
std::optional<FilterProgram> find_filter(std::string_view name);

}  // namespace cordon::os
