// SPDX-License-Identifier: Apache-2.0
// prlimit64, both ways.
#include "os/rlimit.h"

#include <string>

namespace cordon::os {
namespace {

std::optional<std::uint64_t> from_raw(rlim_t value) {
  return value == RLIM_INFINITY ? std::nullopt : std::optional<std::uint64_t>{value};
}

Status prlimit(Rlimit kind, pid_t pid, const rlimit* set, rlimit* got) {
  if (::prlimit(pid, static_cast<__rlimit_resource>(kind), set, got) != 0) {
    return Error::from_errno("prlimit").with("limit " + std::to_string(static_cast<int>(kind)) +
                                             " of pid " + std::to_string(pid));
  }
  return {};
}

}  // namespace

Result<RlimitValue> get_rlimit(Rlimit kind, pid_t pid) {
  rlimit raw{};
  TRY_DO(prlimit(kind, pid, nullptr, &raw));
  return RlimitValue{.soft = from_raw(raw.rlim_cur), .hard = from_raw(raw.rlim_max)};
}

Status set_rlimit(Rlimit kind, const RlimitValue& value, pid_t pid) {
  const rlimit raw{.rlim_cur = value.soft.value_or(RLIM_INFINITY),
                   .rlim_max = value.hard.value_or(RLIM_INFINITY)};
  return prlimit(kind, pid, &raw, nullptr);
}

}  // namespace cordon::os
