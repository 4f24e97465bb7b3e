// SPDX-License-Identifier: Apache-2.0
// Which of prctl's many jobs may be done (C042, C079, C104).
#include <cerrno>
#include <linux/prctl.h>
#include <sys/syscall.h>

#include "os/filter/table.h"

namespace cordon::os {
namespace {

constexpr std::uint32_t kGetAuxv = 0x41555856;  // 6.4

// What a thread says of itself, or gives up.
constexpr std::uint32_t kAllowed[] = {
    PR_SET_NAME,
    PR_GET_NAME,
    PR_SET_VMA,
    PR_SET_PDEATHSIG,
    PR_GET_PDEATHSIG,
    PR_SET_DUMPABLE,
    PR_GET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS,
    PR_GET_SECCOMP,
    PR_SET_SECCOMP,
    PR_CAPBSET_READ,
    PR_GET_KEEPCAPS,
    PR_GET_SECUREBITS,
    PR_SET_TIMERSLACK,
    PR_GET_TIMERSLACK,
    PR_SET_CHILD_SUBREAPER,
    PR_GET_CHILD_SUBREAPER,
    PR_SET_THP_DISABLE,
    PR_GET_THP_DISABLE,
    PR_GET_TID_ADDRESS,
    PR_GET_SPECULATION_CTRL,
    PR_MCE_KILL_GET,
    kGetAuxv,
#if defined(__aarch64__)
    PR_SET_TAGGED_ADDR_CTRL,
    PR_GET_TAGGED_ADDR_CTRL,
#endif
};

}  // namespace

RuledCall ruled_prctl(FilterBase base) {
  constexpr FilterAction kAllow = FilterAction::allow();
  constexpr FilterAction kForbid = FilterAction::fail(EPERM);
  // EINVAL: as a kernel without it. PR_SET_MEMORY_MERGE (C231) is among these.
  RuledCall row{{"prctl", SYS_prctl}, {}, FilterAction::fail(EINVAL)};
  const auto add = [&](FilterAction action, std::vector<ArgumentTest> when) {
    row.clauses.push_back({action, std::move(when)});
  };
  for (const std::uint32_t option : kAllowed) add(kAllow, {is(0, option)});
  // A CPU's guesses may be switched off, never on. The value is a long to the kernel.
  for (const std::uint64_t value :
       {PR_SPEC_DISABLE, PR_SPEC_FORCE_DISABLE, PR_SPEC_DISABLE_NOEXEC}) {
    add(kAllow, {is(0, PR_SET_SPECULATION_CTRL), {.index = 2, .value = value}});
  }
  add(kForbid, {is(0, PR_SET_SPECULATION_CTRL)});
  // Another process's eyes on this one, and its layout.
  add(kForbid, {is(0, PR_SET_PTRACER)});
  add(kForbid, {is(0, PR_SET_MM)});
  // How capabilities pass through a change of ids or an exec: pid 1 arranges that on the way to a
  // spawner, and no workload after it.
  const bool descends = base == FilterBase::init;
  if (!descends) add(kForbid, {is(0, PR_CAP_AMBIENT), {.index = 1, .value = PR_CAP_AMBIENT_RAISE}});
  add(kAllow, {is(0, PR_CAP_AMBIENT)});
  add(descends ? kAllow : kForbid, {is(0, PR_SET_SECUREBITS)});
  add(descends ? kAllow : kForbid, {is(0, PR_CAPBSET_DROP)});
  // Granted capabilities survive a change of ids only if that is asked for.
  add(base == FilterBase::strict ? kForbid : kAllow, {is(0, PR_SET_KEEPCAPS)});
  return row;
}

}  // namespace cordon::os
