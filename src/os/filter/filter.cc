// SPDX-License-Identifier: Apache-2.0
#include "os/filter/filter.h"

namespace cordon::os {
namespace {

// kStrict, kStrictNosetid, ...: written by the generator.
#include "os/filter/programs.inc"

}  // namespace

FilterProgram filter_program(FilterProfile profile) {
  switch (profile) {
    case FilterProfile::strict:
      return kStrict;
    case FilterProfile::strict_nosetid:
      return kStrictNosetid;
    case FilterProfile::strict_notify:
      return kStrictNotify;
    case FilterProfile::strict_nosetid_notify:
      return kStrictNosetidNotify;
    case FilterProfile::compat:
      return kCompat;
    case FilterProfile::compat_nosetid:
      return kCompatNosetid;
    case FilterProfile::compat_notify:
      return kCompatNotify;
    case FilterProfile::compat_nosetid_notify:
      return kCompatNosetidNotify;
    case FilterProfile::init:
      return kInit;
  }
  return kStrict;  // not reached; the narrowest all the same
}

std::optional<FilterProgram> find_filter(std::string_view name) {
  const auto profile = filter_profile_from_string(name);
  if (!profile) return std::nullopt;
  return filter_program(*profile);
}

}  // namespace cordon::os
