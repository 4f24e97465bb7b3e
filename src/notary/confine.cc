// SPDX-License-Identifier: Apache-2.0
#include "notary/confine.h"

#include "os/capability.h"
#include "os/filter/own_filter.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/rlimit.h"
#include "os/seccomp.h"

namespace cordon::notary {
namespace {

// The socket, key, state, anchor, and what a message might bring.
constexpr std::uint64_t kMostFds = 16;

}  // namespace

Status confine() {
  TRY_DO(os::set_dumpable(false));
  TRY_DO(os::set_rlimit(os::Rlimit::core_size, {.soft = 0, .hard = 0}));
  TRY_DO(os::set_rlimit(os::Rlimit::open_files, {.soft = kMostFds, .hard = kMostFds}));
  TRY_DO(os::keep_none());
  TRY_DO(os::set_no_new_privs());
  // Nothing is held against a kernel that has it not: the filter alone lets no file be opened.
  if (const auto abi = os::landlock_abi()) {
    TRY(const os::LandlockRuleset rules,
        os::LandlockRuleset::create(os::landlock_rights_of(*abi), *abi));
    TRY_DO(rules.restrict_self());
  }
  return os::seccomp_load(os::own_filter(os::OwnProgram::notary));
}

}  // namespace cordon::notary
