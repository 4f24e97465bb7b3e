// SPDX-License-Identifier: Apache-2.0
#include "os/filter/own_calls.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

namespace cordon::os {
namespace {

constexpr FilterAction kRefused = FilterAction::fail(EPERM);

RuledCall plain(std::string_view name, int number) {
  return {{name, number}, {}, FilterAction::allow()};
}

// Allowed only where all of `when` holds.
RuledCall only(std::string_view name, int number, std::vector<ArgumentTest> when) {
  return {{name, number}, {{FilterAction::allow(), std::move(when)}}, kRefused};
}

// Allowed, but not to make memory that can be executed.
RuledCall without_exec(std::string_view name, int number) {
  return {{name, number}, {{kRefused, {has_any(2, PROT_EXEC)}}}, FilterAction::allow()};
}

// What each of them has beside its own: memory, though none that can be executed, and its end.
std::vector<RuledCall> with_memory_and_end(std::vector<RuledCall> own) {
  own.insert(own.end(), {
                            plain("brk", SYS_brk),
                            without_exec("mmap", SYS_mmap),
                            without_exec("mprotect", SYS_mprotect),
                            plain("mremap", SYS_mremap),
                            plain("munmap", SYS_munmap),
                            plain("madvise", SYS_madvise),
                            plain("restart_syscall", SYS_restart_syscall),
                            plain("exit_group", SYS_exit_group),
                            plain("exit", SYS_exit),
                        });
  return own;
}

// It has its sockets and its memory, and waits. It opens, makes, executes and signals nothing.
std::vector<RuledCall> broker_calls() {
  return {
      // Its sockets. A new one comes over one that it has.
      plain("sendmsg", SYS_sendmsg),
      plain("recvmsg", SYS_recvmsg),
      plain("close", SYS_close),
      plain("epoll_ctl", SYS_epoll_ctl),
      plain("epoll_pwait", SYS_epoll_pwait),
#if defined(__x86_64__)
      plain("epoll_wait", SYS_epoll_wait),
#endif
      {{"fcntl", SYS_fcntl},
       {{FilterAction::allow(), {is(1, F_GETFL)}}, {FilterAction::allow(), {is(1, F_SETFL)}}},
       kRefused},
      only("getsockopt", SYS_getsockopt, {is(1, SOL_SOCKET), is(2, SO_PEERCRED)}),
      // The store of secrets, which it was started with, and what it is sealed with.
      plain("pread64", SYS_pread64),
      plain("pwrite64", SYS_pwrite64),
      plain("fdatasync", SYS_fdatasync),
      plain("fallocate", SYS_fallocate),
      plain("getrandom", SYS_getrandom),
      plain("mlock", SYS_mlock),  // what is read of it is never swapped
      // Time, where the vDSO has none.
      plain("clock_gettime", SYS_clock_gettime),
      // The way to the end.
      plain("futex", SYS_futex),
      plain("rt_sigreturn", SYS_rt_sigreturn),
  };
}

// It accepts and dials, and moves bytes between. It opens no file, executes nothing, signals nobody
// but itself, and makes sockets of the Internet only, and those that ask the kernel for the host's
// own addresses.
std::vector<RuledCall> egress_calls() {
  return {
      {{"socket", SYS_socket},
       {{FilterAction::allow(), {is(0, AF_INET)}},
        {FilterAction::allow(), {is(0, AF_INET6)}},
        {FilterAction::allow(), {is(0, AF_NETLINK), is(2, NETLINK_ROUTE)}}},
       kRefused},
      plain("connect", SYS_connect),
      plain("bind", SYS_bind),
      plain("accept", SYS_accept),
      plain("accept4", SYS_accept4),
      plain("getsockname", SYS_getsockname),
      plain("getpeername", SYS_getpeername),
      plain("getsockopt", SYS_getsockopt),
      plain("setsockopt", SYS_setsockopt),
      plain("shutdown", SYS_shutdown),
      plain("sendto", SYS_sendto),
      plain("recvfrom", SYS_recvfrom),
      plain("sendmsg", SYS_sendmsg),
      plain("recvmsg", SYS_recvmsg),
      plain("read", SYS_read),
      plain("readv", SYS_readv),
      plain("write", SYS_write),
      plain("writev", SYS_writev),
      plain("splice", SYS_splice),  // between its sockets and a pipe that it had before its filter
      plain("close", SYS_close),
      {{"ioctl", SYS_ioctl},
       {{FilterAction::allow(), {is(1, FIONBIO)}}, {FilterAction::allow(), {is(1, FIONREAD)}}},
       kRefused},
      {{"fcntl", SYS_fcntl},
       {{FilterAction::allow(), {is(1, F_GETFL)}},
        {FilterAction::allow(), {is(1, F_SETFL)}},
        {FilterAction::allow(), {is(1, F_GETFD)}},
        {FilterAction::allow(), {is(1, F_SETFD)}}},
       kRefused},
      // Waiting.
      plain("epoll_ctl", SYS_epoll_ctl),
      plain("epoll_pwait", SYS_epoll_pwait),
#if defined(__x86_64__)
      plain("epoll_wait", SYS_epoll_wait),
      plain("poll", SYS_poll),
#endif
      plain("ppoll", SYS_ppoll),
      plain("timerfd_settime", SYS_timerfd_settime),
      plain("clock_gettime", SYS_clock_gettime),
      plain("clock_nanosleep", SYS_clock_nanosleep),
      plain("futex", SYS_futex),
      plain("getrandom", SYS_getrandom),  // of TLS
      // The way to the end.
      plain("sigaltstack", SYS_sigaltstack),  // of sanitizers, where an exception is thrown
      plain("getpid", SYS_getpid),
      plain("gettid", SYS_gettid),
      plain("rt_sigprocmask", SYS_rt_sigprocmask),
      plain("rt_sigreturn", SYS_rt_sigreturn),
      plain("sched_yield", SYS_sched_yield),
  };
}

// It reads one stream and writes another, and computes in between.
std::vector<RuledCall> unpack_calls() {
  return {
      plain("read", SYS_read),
      plain("write", SYS_write),
      // Of libraries that ask for the time, or lock what nobody else wants.
      plain("clock_gettime", SYS_clock_gettime),
      plain("futex", SYS_futex),
      // The way to the end.
      plain("sigaltstack", SYS_sigaltstack),  // of sanitizers
      plain("getpid", SYS_getpid),
      plain("gettid", SYS_gettid),
      plain("sched_yield", SYS_sched_yield),
      plain("rt_sigprocmask", SYS_rt_sigprocmask),
      plain("rt_sigreturn", SYS_rt_sigreturn),
  };
}

// It reads what others say and writes what becomes of it: two pipes, a clock and memory.
std::vector<RuledCall> mcp_calls() {
  return {
      only("read", SYS_read, {is(0, 0)}),
      {{"write", SYS_write},
       {{FilterAction::allow(), {is(0, 1)}}, {FilterAction::allow(), {is(0, 2)}}},
       kRefused},
      plain("clock_gettime", SYS_clock_gettime),  // where the vDSO has none
      plain("futex", SYS_futex),
      // The way to the end.
      plain("sigaltstack", SYS_sigaltstack),  // of sanitizers
      plain("getpid", SYS_getpid),
      plain("gettid", SYS_gettid),
      plain("sched_yield", SYS_sched_yield),
      plain("rt_sigprocmask", SYS_rt_sigprocmask),
      plain("rt_sigreturn", SYS_rt_sigreturn),
  };
}

// It has one socket, three files and its memory, and waits for the socket alone.
std::vector<RuledCall> notary_calls() {
  return {
      plain("sendmsg", SYS_sendmsg),
      plain("recvmsg", SYS_recvmsg),
      plain("close", SYS_close),
      // What it has signed, and its anchor.
      plain("pread64", SYS_pread64),
      plain("pwrite64", SYS_pwrite64),
      plain("lseek", SYS_lseek),
      plain("ftruncate", SYS_ftruncate),
      plain("fdatasync", SYS_fdatasync),
      plain("clock_gettime", SYS_clock_gettime),
  };
}

// It moves bytes between a socket, over which another may come, and two pipes, and listens to one
// who tells what happens inside.
std::vector<RuledCall> relay_calls() {
  return {
      plain("sendmsg", SYS_sendmsg),
      plain("recvmsg", SYS_recvmsg),
      plain("accept4", SYS_accept4),
      plain("read", SYS_read),
      plain("write", SYS_write),
      plain("close", SYS_close),
      {{"fcntl", SYS_fcntl},
       {{FilterAction::allow(), {is(1, F_GETFL)}}, {FilterAction::allow(), {is(1, F_SETFL)}}},
       kRefused},
#if defined(__x86_64__)
      plain("poll", SYS_poll),
#endif
      plain("ppoll", SYS_ppoll),
      plain("clock_gettime", SYS_clock_gettime),
      only("prctl", SYS_prctl, {is(0, PR_SET_PDEATHSIG)}),
      // The way to the end.
      plain("futex", SYS_futex),
      plain("rt_sigreturn", SYS_rt_sigreturn),
  };
}

// It works below one directory that it has open, by names and by what it has opened there, and
// answers on one stream. What it opens it cannot execute, and it makes neither sockets nor
// processes.
std::vector<RuledCall> files_calls() {
  return {
      plain("read", SYS_read),
      plain("write", SYS_write),
      plain("close", SYS_close),
      // Names.
      plain("openat", SYS_openat),
      plain("openat2", SYS_openat2),
      plain("newfstatat", SYS_newfstatat),
      plain("readlinkat", SYS_readlinkat),
      plain("symlinkat", SYS_symlinkat),
      plain("linkat", SYS_linkat),
      plain("mknodat", SYS_mknodat),
      plain("mkdirat", SYS_mkdirat),
      plain("unlinkat", SYS_unlinkat),
      plain("renameat2", SYS_renameat2),
      plain("umask", SYS_umask),
      plain("fchmodat", SYS_fchmodat),
      plain("fchownat", SYS_fchownat),
      plain("utimensat", SYS_utimensat),
      // What is open.
      plain("fstat", SYS_fstat),
      plain("fstatfs", SYS_fstatfs),
      plain("pread64", SYS_pread64),
      plain("pwrite64", SYS_pwrite64),
      plain("ftruncate", SYS_ftruncate),
      plain("fallocate", SYS_fallocate),
      plain("lseek", SYS_lseek),
      plain("fsync", SYS_fsync),
      plain("fdatasync", SYS_fdatasync),
      plain("getdents64", SYS_getdents64),
      // The way to the end.
      plain("futex", SYS_futex),
      plain("rt_sigreturn", SYS_rt_sigreturn),
  };
}

}  // namespace

std::vector<RuledCall> own_calls(OwnProgram program) {
  switch (program) {
    case OwnProgram::broker:
      return with_memory_and_end(broker_calls());
    case OwnProgram::egress:
      return with_memory_and_end(egress_calls());
    case OwnProgram::files:
      return with_memory_and_end(files_calls());
    case OwnProgram::mcp:
      return with_memory_and_end(mcp_calls());
    case OwnProgram::notary:
      return with_memory_and_end(notary_calls());
    case OwnProgram::relay:
      return with_memory_and_end(relay_calls());
    case OwnProgram::unpack:
      return with_memory_and_end(unpack_calls());
  }
  return {};
}

FilterSpec own_spec(OwnProgram program) {
  FilterSpec spec{.otherwise = kRefused, .foreign = FilterAction::kill_process()};
  for (const RuledCall& row : own_calls(program)) {
    for (const Clause& clause : row.clauses) {
      spec.rules.push_back({row.call.number, clause.action, clause.when});
    }
    if (row.otherwise != kRefused) spec.rules.push_back({row.call.number, row.otherwise, {}});
  }
  return spec;
}

}  // namespace cordon::os
