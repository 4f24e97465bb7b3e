// SPDX-License-Identifier: Apache-2.0
#include "egress/confine.h"

#include <string_view>

#include "os/capability.h"
#include "os/filter/own_filter.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/rlimit.h"
#include "os/seccomp.h"

namespace cordon::egress {
namespace {

struct Step {
  std::string_view name;
  Status (*take)();
};

// Exec has set it anew, whatever the launcher had said.
Status become_undumpable() { return os::set_dumpable(false); }

Status set_limits() {
  TRY_DO(os::set_rlimit(os::Rlimit::core_size, {.soft = 0, .hard = 0}));
  // As many connections as the host lets us have.
  TRY(os::RlimitValue files, os::get_rlimit(os::Rlimit::open_files));
  files.soft = files.hard;
  return os::set_rlimit(os::Rlimit::open_files, files);
}

// No file, wherever; and nobody outside can be signalled or spoken to by an abstract socket.
// Nothing is held against a kernel that has it not: the filter alone lets no file be opened.
Status shut_files() {
  const auto abi = os::landlock_abi();
  if (!abi) return {};
  os::LandlockRights rights = os::landlock_rights_of(*abi);
  rights.net = 0;  // it dials whatever a policy allows
  TRY(const os::LandlockRuleset rules, os::LandlockRuleset::create(rights, *abi));
  return rules.restrict_self();
}

Status load_filter() { return os::seccomp_load(os::own_filter(os::OwnProgram::egress)); }

// The order is the argument: each line gives up what the lines below no longer need.
constexpr Step kSteps[] = {
    {"dumps", become_undumpable},  // first: nobody looks in from here on
    {"limits", set_limits},
    {"capabilities", os::keep_none},
    {"no_new_privs", os::set_no_new_privs},  // the two below need it, without capabilities
    {"landlock", shut_files},
    {"filter", load_filter},  // last: it allows none of the above
};

}  // namespace

Status confine() {
  for (const Step& step : kSteps) {
    if (auto taken = step.take(); !taken) return std::move(taken).error().with(step.name);
  }
  return {};
}

}  // namespace cordon::egress
