// SPDX-License-Identifier: Apache-2.0
// state: all that can be seen from inside of the fences around it. Two runs under the same fences
// print the same, but for numbers that the kernel gives out.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <grp.h>
#include <linux/landlock.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace {

void show_file(const char* path, std::string_view only = {}) {
  std::ifstream file{path};
  std::string line;
  while (std::getline(file, line)) {
    const std::string_view key = std::string_view{line}.substr(0, line.find(':'));
    if (only.empty() || only.find(std::string{' '} + std::string{key} + ' ') != std::string::npos) {
      std::printf("%s %s\n", path, line.c_str());
    }
  }
}

void attempt(const char* name, long result) {
  std::printf("try %s: %s\n", name, result >= 0 ? "done" : std::strerror(errno));
}

void open_to_write(const char* path) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  attempt(path, fd);
  if (fd >= 0) ::close(fd);
}

void open_to_read(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  attempt(path, fd);
  if (fd >= 0) ::close(fd);
}

}  // namespace

int main() {
  // Not of standard I/O: whoever looks must know that it ran, whatever happens later.
  if (::write(1, "ran\n", 4) != 4) return 1;
  show_file("/proc/self/status",
            " Uid Gid Groups NoNewPrivs Seccomp Seccomp_filters CapInh CapPrm CapEff CapBnd CapAmb "
            "Umask Speculation_Store_Bypass ");
  show_file("/proc/self/limits");
  show_file("/proc/self/cgroup");
  show_file("/proc/self/uid_map");
  show_file("/proc/self/gid_map");
  show_file("/proc/net/dev");
  utsname names{};
  ::uname(&names);
  std::printf("host %s, pid %d, parent %d, session %d\n", names.nodename, ::getpid(), ::getppid(),
              ::getsid(0));
  for (int fd = 0; fd < 64; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) std::printf("descriptor %d\n", fd);
  }
  for (const char* path : {"/proc/sys/kernel/hostname", "/usr/x", "/etc/x", "/x", "/dev/x",
                           "/proc/self/oom_score_adj", "/proc/1/oom_score_adj", "/tmp/x"}) {
    open_to_write(path);
  }
  for (const char* path : {"/proc/1/environ", "/proc/1/mem", "/proc/kcore", "/proc/keys",
                           "/proc/kallsyms", "/dev/mem", "/etc/shadow", "/root", "/home", "/sys",
                           "/proc/sysrq-trigger", "/proc/timer_list", "/run"}) {
    open_to_read(path);
  }
  attempt("mount", ::mount("none", "/tmp", "tmpfs", 0, nullptr));
  attempt("unshare user", ::unshare(CLONE_NEWUSER));
  attempt("unshare mount", ::unshare(CLONE_NEWNS));
  attempt("ptrace", ::ptrace(PTRACE_TRACEME, 0L, 0L, 0L));
  attempt("vsock", ::socket(AF_VSOCK, SOCK_STREAM, 0));
  attempt("netlink", ::socket(AF_NETLINK, SOCK_RAW, 4));
  attempt("packet", ::socket(AF_PACKET, SOCK_RAW, 0));
  attempt("bpf", ::syscall(SYS_bpf, 0, nullptr, 0));
  attempt("keyctl", ::syscall(SYS_keyctl, 0, 0, 0, 0, 0));
  attempt("io_uring", ::syscall(SYS_io_uring_setup, 1, nullptr));
  attempt("clone3", ::syscall(SYS_clone3, nullptr, 0));
  attempt("setuid", ::setuid(0));
  attempt("setgroups", ::setgroups(0, nullptr));
  attempt("chroot", ::chroot("/tmp"));
  attempt("sethostname", ::sethostname("x", 1));
  attempt("set-id bit", ::chmod("/tmp/x", 04700));
  show_file("/proc/self/mountinfo");
  return 0;
}
