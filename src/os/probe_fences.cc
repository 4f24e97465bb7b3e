// SPDX-License-Identifier: Apache-2.0
// Seccomp and Landlock, each loaded and then run against.
#include "os/probe_fences.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/file.h"
#include "os/kernel_abi.h"
#include "os/landlock.h"
#include "os/prctl.h"
#include "os/seccomp.h"

namespace cordon::os {
namespace {

// A call without effect that nothing else in a trial makes, and answers that it never gives.
constexpr long kCall = SYS_getpriority;
constexpr int kFilterErrno = EXFULL;
constexpr std::int64_t kSupervisorValue = 4711;
long make_call() { return ::syscall(kCall, -1, 0); }

// By hand, four instructions: a compiler of filters has no place in a program that only loads them.
std::array<sock_filter, 4> filter_of_one_call(std::uint32_t action) {
  return {sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
          sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, kCall},
          sock_filter{BPF_RET | BPF_K, 0, 0, action},
          sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
}

Fact unheld_fact(std::string detail) { return {Support::blocked, std::move(detail), {}}; }

Fact answered_by_supervisor(const Fd& listener, const TrialLimit& limit) {
  Trial caller = Trial::start([&] {
    return make_call() == kSupervisorValue ? ok_fact()
                                           : unheld_fact("the supervisor's answer was lost");
  });
  if (readable_before(listener, limit.deadline)) {
    const auto call = seccomp_receive(listener);
    if (!call) return refused_fact(call.error());
    const Status sent = seccomp_respond_value(listener, call->id, kSupervisorValue);
    if (!sent) return refused_fact(sent.error());
  }
  return std::move(caller).finish(limit);
}

// What it means that an ABI is older than 3: a file outside every rule can still be emptied.
Fact landlock_fact(int abi) {
  std::string detail = fmt::format("ABI {}", abi);
  if (abi < 3) {
    return {Support::limited, detail + ": truncation is not held (ABI 3 holds it)", {}};
  }
  detail += abi < 4   ? " (files)"
            : abi < 5 ? " (files, tcp ports)"
            : abi < 6 ? " (files, tcp ports, device ioctl)"
                      : " (files, tcp ports, device ioctl, signals, abstract sockets)";
  return ok_fact(detail);
}

bool opens(const char* path, int flags) { return openat(at_cwd(), path, flags).has_value(); }

}  // namespace

Fact probe_seccomp() {
  if (const Status done = set_no_new_privs(); !done) return refused_fact(done.error());
  const auto program = filter_of_one_call(SECCOMP_RET_ERRNO | kFilterErrno);
  if (const Status done = seccomp_load(program); !done) return refused_fact(done.error());
  if (make_call() == -1 && errno == kFilterErrno) return ok_fact();
  return unheld_fact("a loaded filter does not answer");
}

Fact probe_seccomp_notify(const TrialLimit& limit) {
  if (const Status done = set_no_new_privs(); !done) return refused_fact(done.error());
  const auto listener = seccomp_load_with_listener(filter_of_one_call(SECCOMP_RET_USER_NOTIF));
  if (listener) return answered_by_supervisor(*listener, limit);
  const int cause = listener.error().cause().value();
  if (cause == EBUSY) return unheld_fact("another supervisor holds this process's only listener");
  if (cause == EINVAL) return {Support::absent, listener.error().text(), {}};
  return refused_fact(listener.error());
}

int probe_landlock_abi() {
  const auto abi = landlock_abi();
  return abi ? *abi : 0;
}

Fact probe_landlock() {
  const auto abi = landlock_abi();
  if (!abi) {
    // ENOSYS: not built. EOPNOTSUPP: built, but not among the modules that the kernel started with.
    if (abi.error().cause().value() != EOPNOTSUPP) return refused_fact(abi.error());
    return unheld_fact("built in, but not in the kernel's list of security modules (lsm= at boot)");
  }
  const auto all = LandlockRuleset::create(landlock_rights_of(*abi), *abi);
  if (!all) return refused_fact(all.error());
  if (!opens("/dev/null", O_WRONLY))
    return unheld_fact("/dev/null cannot be written to begin with");
  const auto no_writing = LandlockRuleset::create({.fs = abi::kFsWriteFile}, *abi);
  if (!no_writing) return refused_fact(no_writing.error());
  if (const Status done = set_no_new_privs(); !done) return refused_fact(done.error());
  if (const Status done = no_writing->restrict_self(); !done) return refused_fact(done.error());
  if (opens("/dev/null", O_WRONLY)) return unheld_fact("a file that no rule grants can be written");
  if (!opens("/dev/null", O_RDONLY)) return unheld_fact("it refuses what no rule handles");
  return landlock_fact(*abi);
}

}  // namespace cordon::os
