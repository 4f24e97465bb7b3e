// SPDX-License-Identifier: Apache-2.0
#include "broker/confine.h"

#include "broker/serve.h"
#include "os/capability.h"
#include "os/filter/own_filter.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/rlimit.h"
#include "os/seccomp.h"
#include "os/standard_streams.h"

namespace cordon::broker {
namespace {

// Exec has set it anew, whatever the launcher had said.
Status become_undumpable() { return os::set_dumpable(false); }

Status set_limits() {
  TRY_DO(os::set_rlimit(os::Rlimit::core_size, {.soft = 0, .hard = 0}));
  TRY_DO(
      os::set_rlimit(os::Rlimit::open_files, {.soft = Server::kMostFds, .hard = Server::kMostFds}));
  // Secrets lie in locked memory: as much of it as we may have.
  TRY(os::RlimitValue locked, os::get_rlimit(os::Rlimit::locked_memory));
  locked.soft = locked.hard;
  return os::set_rlimit(os::Rlimit::locked_memory, locked);
}

// Nothing is held against a kernel that has it not: the filter alone lets no file be opened.
Status shut_files() {
  const auto abi = os::landlock_abi();
  if (!abi) return {};
  TRY(const os::LandlockRuleset rules,
      os::LandlockRuleset::create(os::landlock_rights_of(*abi), *abi));
  return rules.restrict_self();
}

Status load_filter() { return os::seccomp_load(os::own_filter(os::OwnProgram::broker)); }

constexpr ConfineStep kSteps[] = {
    {"dumps", become_undumpable},            // first: nobody looks in from here on
    {"streams", os::shut_standard_streams},  // the last words before this go to the caller
    {"limits", set_limits},
    {"capabilities", os::keep_none},
    {"no_new_privs", os::set_no_new_privs},  // the two below need it, without capabilities
    {"landlock", shut_files},
    {"filter", load_filter},  // last: it allows none of the above
};

}  // namespace

std::span<const ConfineStep> confine_steps() { return kSteps; }

Status confine() {
  for (const ConfineStep& step : kSteps) {
    if (auto taken = step.take(); !taken) return std::move(taken).error().with(step.name);
  }
  return {};
}

}  // namespace cordon::broker
