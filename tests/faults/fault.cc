// SPDX-License-Identifier: Apache-2.0
// Stands where `cordon-launcher` is looked for, starts the real one (real/cordon-launcher beside
// it) under a tracer, and lets one system call of it or of what it starts fail.
//
// fault.plan beside it holds ROLE CALL ERRNO: the CALL-th system call of the process ROLE is not
// made and returns ERRNO. A role is the way down the tree: 0 is the launcher, 0.2 its second child.
// fault.log receives each call that was counted (ROLE CALL NUMBER) and the one that failed. What
// the workload itself calls is not counted.
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <string>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Fault {
  std::string role = "-";
  long call = 0;
  int error = EPERM;
};

struct Tracee {
  std::string role;  // empty until its parent's event was seen
  long calls = 0;
  int children = 0;
  bool counts = true;
  bool failing = false;
  bool waits = false;  // it has stopped for the first time, and its role is not known yet
};

#if defined(__x86_64__)
void set_number(pid_t pid, long number) {
  ::ptrace(PTRACE_POKEUSER, pid, offsetof(user, regs.orig_rax), number);
}
void set_result(pid_t pid, long value) {
  ::ptrace(PTRACE_POKEUSER, pid, offsetof(user, regs.rax), value);
}
#else
void set_number(pid_t pid, long number) {
  int wanted = static_cast<int>(number);
  iovec one{&wanted, sizeof wanted};
  ::ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &one);
}
void set_result(pid_t pid, long value) {
  user_regs_struct regs{};
  iovec all{&regs, sizeof regs};
  ::ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all);
  regs.regs[0] = static_cast<unsigned long long>(value);
  ::ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &all);
}
#endif

std::string program_of(pid_t pid) {
  std::string name;
  std::getline(std::ifstream{"/proc/" + std::to_string(pid) + "/comm"}, name);
  return name;
}

class Tracer {
 public:
  Tracer(Fault fault, const std::string& log, pid_t launcher)
      : fault_{std::move(fault)}, log_{log} {
    tracees_[launcher].role = "0";
    log_ << "launcher " << launcher << '\n';
  }

  void serve() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, __WALL);
      if (pid < 0 && errno == EINTR) continue;
      if (pid < 0) return;
      if (WIFSTOPPED(status)) {
        stopped(pid, status);
      } else {
        tracees_.erase(pid);
      }
    }
  }

 private:
  static void go_on(pid_t pid, int signal = 0) {
    ::ptrace(PTRACE_SYSCALL, pid, 0L, static_cast<long>(signal));
  }

  void born(pid_t parent) {
    unsigned long message = 0;
    ::ptrace(PTRACE_GETEVENTMSG, parent, 0L, &message);
    Tracee& maker = tracees_[parent];
    Tracee& child = tracees_[static_cast<pid_t>(message)];
    child.role = maker.role + '.' + std::to_string(++maker.children);
    child.counts = maker.counts;
    if (child.waits) go_on(static_cast<pid_t>(message));
    child.waits = false;
  }

  void call_stop(pid_t pid) {
    Tracee& tracee = tracees_[pid];
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0) return;
    if (info.op == PTRACE_SYSCALL_INFO_EXIT && tracee.failing) {
      set_result(pid, -fault_.error);
      tracee.failing = false;
    }
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !tracee.counts) return;
    ++tracee.calls;
    log_ << tracee.role << ' ' << tracee.calls << ' ' << info.entry.nr << '\n';
    if (tracee.role != fault_.role || tracee.calls != fault_.call) return;
    // Another call that every filter allows takes its place. A close that fails has closed.
    if (info.entry.nr != SYS_close) set_number(pid, SYS_getpid);
    tracee.failing = true;
    log_ << "failed " << tracee.role << ' ' << tracee.calls << ' ' << info.entry.nr << '\n'
         << std::flush;
  }

  void stopped(pid_t pid, int status) {
    const int event = status >> 16;
    const int signal = WSTOPSIG(status);
    Tracee& tracee = tracees_[pid];
    if (signal == (SIGTRAP | 0x80)) {
      call_stop(pid);
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
               event == PTRACE_EVENT_CLONE) {
      born(pid);
    } else if (event == PTRACE_EVENT_EXEC) {
      tracee.counts = program_of(pid) != "state";
    } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
      ::ptrace(PTRACE_LISTEN, pid, 0L, 0L);  // a job-control stop: it stays stopped
      return;
    } else if (event == 0 && (signal == SIGSEGV || signal == SIGILL || signal == SIGBUS)) {
      // It would end by it, but pid 1 of a namespace that is traced does not: it would try for
      // ever.
      ::kill(pid, SIGKILL);
    } else if (event == 0) {
      return go_on(pid, signal);
    }
    if (tracee.role.empty()) {
      tracee.waits = true;
      return;
    }
    go_on(pid);
  }

  Fault fault_;
  std::ofstream log_;
  std::map<pid_t, Tracee> tracees_;
};

[[noreturn]] void trace(const std::string& dir, pid_t launcher, int ready) {
  Fault fault;
  std::ifstream{dir + "fault.plan"} >> fault.role >> fault.call >> fault.error;
  constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                            PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (::ptrace(PTRACE_SEIZE, launcher, 0L, kOptions) != 0) std::_Exit(1);
  if (::ptrace(PTRACE_INTERRUPT, launcher, 0L, 0L) != 0) std::_Exit(1);
  // The launcher's socket must not stay open because of us.
  ::dup2(ready, 4);
  ::close(3);
  ::close_range(5, ~0U, 0);
  if (::write(4, "", 1) != 1) std::_Exit(1);
  ::close(4);
  Tracer{fault, dir + "fault.log", launcher}.serve();
  std::_Exit(0);
}

}  // namespace

int main(int, char** argv) {
  char path[4096] = {};
  if (::readlink("/proc/self/exe", path, sizeof path - 1) < 0) return 125;
  std::string dir{path};
  dir.resize(dir.rfind('/') + 1);
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return 125;
  const pid_t launcher = ::getpid();
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const pid_t between = ::fork();
  if (between == 0) {
    // Not our child: the launcher must find none that it did not start.
    if (::fork() == 0) trace(dir, launcher, ready[1]);
    std::_Exit(0);
  }
  ::waitpid(between, nullptr, 0);
  ::close(ready[1]);
  char word = 0;
  if (::read(ready[0], &word, 1) != 1) {
    static_cast<void>(std::fputs("fault: the tracer could not take hold\n", stderr));
    return 125;
  }
  ::execv((dir + "real/cordon-launcher").c_str(), argv);
  return 125;
}
