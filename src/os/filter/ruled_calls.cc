// SPDX-License-Identifier: Apache-2.0
// Calls whose arguments decide. Only what stands in a register can be asked for: another thread may
// change what a pointer shows between our look and the kernel's.
#include <cerrno>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "os/filter/table.h"

namespace cordon::os {
namespace {

constexpr FilterAction kAllow = FilterAction::allow();
constexpr FilterAction kForbid = FilterAction::fail(EPERM);

// C063. In clone the low byte is the signal at exit, so that CLONE_NEWTIME (0x80) is no flag there.
constexpr std::uint64_t kCloneNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                           CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                           CLONE_NEWNET;
constexpr std::uint64_t kUnshareNamespaces = kCloneNamespaces | CLONE_NEWTIME;
static_assert(kCloneNamespaces == 0x7E020000 && kUnshareNamespaces == 0x7E020080);

RuledCall ruled_clone() {
  return {{"clone", SYS_clone}, {{kForbid, {has_any(0, kCloneNamespaces)}}}, kAllow};
}

RuledCall ruled_unshare() {
  return {{"unshare", SYS_unshare}, {{kForbid, {has_any(0, kUnshareNamespaces)}}}, kAllow};
}

// C095: priority inheritance with requeue, the part of futexes that broke most often.
RuledCall ruled_futex() {
  constexpr std::uint64_t kCommand = 0x7F;
  constexpr FilterAction kAbsent = FilterAction::fail(ENOSYS);
  return {{"futex", SYS_futex},
          {{kAbsent, {is(1, FUTEX_WAIT_REQUEUE_PI, kCommand)}},
           {kAbsent, {is(1, FUTEX_CMP_REQUEUE_PI, kCommand)}}},
          kAllow};
}

// C231: pages merged across tenants tell what the other one has. EINVAL: as a kernel without it.
RuledCall ruled_madvise() {
  return {
      {"madvise", SYS_madvise}, {{FilterAction::fail(EINVAL), {is(2, MADV_MERGEABLE)}}}, kAllow};
}

// C038: personalities switch off address randomisation and the like. 0xFFFFFFFF only asks.
RuledCall ruled_personality(FilterBase base) {
  RuledCall row{{"personality", SYS_personality},
                {{kAllow, {is(0, PER_LINUX)}}, {kAllow, {is(0, 0xFFFFFFFF)}}},
                kForbid};
  if (base != FilterBase::strict) {
    row.clauses.push_back({kAllow, {is(0, PER_LINUX32)}});
    row.clauses.push_back({kAllow, {is(0, UNAME26)}});
  }
  return row;
}

// Limits of the caller itself, not of another process of the same user.
RuledCall ruled_prlimit() {
  return {{"prlimit64", SYS_prlimit64}, {{kAllow, {is(0, 0)}}}, kForbid};
}

// C014: regular files (0 means these too), FIFOs and sockets; no devices, so no whiteouts.
RuledCall ruled_mknod(Call call, unsigned mode) {
  RuledCall row{call, {}, kForbid};
  for (const std::uint32_t kind :
       {0U, std::uint32_t{S_IFREG}, std::uint32_t{S_IFIFO}, std::uint32_t{S_IFSOCK}}) {
    row.clauses.push_back({kAllow, {is(mode, kind, S_IFMT)}});
  }
  return row;
}

// C039, C040: a program may tighten its fence, and not put itself in the supervisor's place. Pid 1
// hands the listener of a `notify` filter out.
RuledCall ruled_seccomp(FilterBase base) {
  RuledCall row{{"seccomp", SYS_seccomp}, {}, kForbid};
  if (base == FilterBase::init) {
    row.clauses.push_back({kAllow, {is(0, SECCOMP_GET_NOTIF_SIZES)}});
  } else {
    row.clauses.push_back({kForbid, {has_any(1, SECCOMP_FILTER_FLAG_NEW_LISTENER)}});
  }
  row.clauses.push_back({kAllow, {is(0, SECCOMP_SET_MODE_FILTER)}});
  row.clauses.push_back({kAllow, {is(0, SECCOMP_GET_ACTION_AVAIL)}});
  return row;
}

// C041: the policies that give no priority. The flag has children start without one.
RuledCall ruled_sched_setscheduler(FilterBase base) {
  RuledCall row{{"sched_setscheduler", SYS_sched_setscheduler}, {}, kForbid};
  if (base == FilterBase::strict) return row;
  constexpr std::uint32_t kResetOnFork = 0x40000000;
  for (const unsigned policy : {0U + SCHED_NORMAL, 0U + SCHED_BATCH, 0U + SCHED_IDLE}) {
    row.clauses.push_back({kAllow, {is(1, policy, kLowHalf & ~std::uint64_t{kResetOnFork})}});
  }
  return row;
}

// Unix only: TIPC has pairs too.
RuledCall ruled_socketpair() {
  return {{"socketpair", SYS_socketpair},
          {{kAllow, {is(0, AF_UNIX)}}},
          FilterAction::fail(EAFNOSUPPORT)};
}

#if defined(__x86_64__)
// C104: the thread's base registers, and the shadow stack that a C library may switch on.
RuledCall ruled_arch_prctl() {
  RuledCall row{{"arch_prctl", SYS_arch_prctl}, {}, FilterAction::fail(EINVAL)};
  // ARCH_SET_GS, ARCH_SET_FS, ARCH_GET_FS, ARCH_GET_GS; ARCH_SHSTK_ENABLE, _DISABLE, _LOCK, _STATUS
  for (const std::uint32_t code :
       {0x1002U, 0x1001U, 0x1003U, 0x1004U, 0x5001U, 0x5002U, 0x5003U, 0x5005U}) {
    row.clauses.push_back({kAllow, {is(0, code)}});
  }
  return row;
}
#endif

}  // namespace

std::vector<RuledCall> ruled_calls(FilterBase base) {
  return {
      ruled_clone(),
      ruled_unshare(),
      ruled_futex(),
      ruled_madvise(),
      ruled_personality(base),
      ruled_prlimit(),
      ruled_mknod({"mknodat", SYS_mknodat}, 2),
#if defined(__x86_64__)
      ruled_mknod({"mknod", SYS_mknod}, 1),
      ruled_arch_prctl(),
#endif
      ruled_seccomp(base),
      ruled_sched_setscheduler(base),
      ruled_socket(),
      ruled_socketpair(),
      ruled_setsockopt(),
      ruled_ioctl(),
      ruled_prctl(base),
  };
}

}  // namespace cordon::os
