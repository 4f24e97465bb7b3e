// SPDX-License-Identifier: Apache-2.0
// By ptrace and SECCOMP_RET_TRACE, not by user notification: a process can have one notification
// listener only, so a mask that held it would hide seccomp_notify too.
#include "tracer.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <elf.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cordon::mask {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArch = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t kArch = AUDIT_ARCH_AARCH64;
#endif

sock_filter statement(std::uint16_t code, std::uint32_t k) { return {code, 0, 0, k}; }

// The call is skipped and `value` is what the caller sees.
void reply(pid_t pid, long value) {
#if defined(__x86_64__)
  ::ptrace(PTRACE_POKEUSER, pid, offsetof(user, regs.orig_rax), -1L);
  ::ptrace(PTRACE_POKEUSER, pid, offsetof(user, regs.rax), value);
#else
  int none = -1;
  iovec number{&none, sizeof none};
  ::ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &number);
  user_regs_struct regs{};
  iovec all{&regs, sizeof regs};
  ::ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all);
  regs.regs[0] = static_cast<unsigned long long>(value);
  ::ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &all);
#endif
}

void resume(pid_t pid, int signal) { ::ptrace(PTRACE_CONT, pid, 0L, static_cast<long>(signal)); }

void serve_call(const Masks& masks, pid_t pid) {
  __ptrace_syscall_info info{};
  Call call{.pid = pid};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0) {
    call.number = static_cast<long>(info.seccomp.nr);
    for (std::size_t i = 0; i < 6; ++i) call.args[i] = info.seccomp.args[i];
  }
  const Answer chosen = answer(masks, call);
  if (chosen.kind == Answer::Kind::hang) return;  // stopped until somebody kills it
  if (chosen.kind == Answer::Kind::reply) reply(pid, chosen.value);
  resume(pid, 0);
}

void serve_stop(const Masks& masks, pid_t pid, int status) {
  const int event = status >> 16;
  const int signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_SECCOMP) {
    serve_call(masks, pid);
  } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
    ::ptrace(PTRACE_LISTEN, pid, 0L, 0L);  // a job-control stop: it stays stopped
  } else {
    resume(pid, event == 0 ? signal : 0);
  }
}

}  // namespace

bool load_filter(const Masks& masks) {
  const auto calls = watched_calls(masks);
  if (calls.empty()) return true;
  std::vector<sock_filter> code = {
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArch},
      statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const long call : calls) {
    code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(call)});
    code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  code.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  // As root without no_new_privs, which would take the set-id bit of newuidmap away.
  if (::geteuid() != 0) ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

bool seize(pid_t child) {
  constexpr long kOptions = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                            PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  return ::ptrace(PTRACE_SEIZE, child, 0L, kOptions) == 0;
}

int serve(const Masks& masks, pid_t child) {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return 125;
    if (WIFSTOPPED(status)) {
      serve_stop(masks, pid, status);
    } else if (pid == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
}

}  // namespace cordon::mask
