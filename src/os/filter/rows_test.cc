// SPDX-License-Identifier: Apache-2.0
// The containment rows that a filter holds, said again call by call: what the table means, not what
// it says.
#include <cerrno>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "os/filter/test_inputs.h"
#include "os/kernel_abi.h"

namespace cordon::os {
namespace {

constexpr std::uint32_t kAllowed = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kNotified = SECCOMP_RET_USER_NOTIF;
constexpr std::uint32_t error(int number) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number);
}
constexpr std::uint64_t kAbove = 1ULL << 40U;

std::uint32_t answer(FilterProfile profile, long call, const CallArguments& arguments = {}) {
  return run_bpf(filter_program(profile), make_call_data(static_cast<int>(call), arguments)).answer;
}

void expect_everywhere(long call, const CallArguments& arguments, std::uint32_t expected) {
  for (const FilterProfile profile : kFilterProfiles) {
    EXPECT_EQ(answer(profile, call, arguments), expected)
        << to_string(profile) << " call " << call << " of " << arguments[0] << ", " << arguments[1]
        << ", " << arguments[2];
  }
}

void expect_everywhere(std::initializer_list<long> calls, std::uint32_t expected) {
  for (const long call : calls) expect_everywhere(call, CallArguments{}, expected);
}

// What differs from base to base: strict, compat, init.
void expect_by_base(long call, const CallArguments& arguments, std::uint32_t strict,
                    std::uint32_t compat, std::uint32_t init) {
  for (const FilterProfile profile : kFilterProfiles) {
    const std::uint32_t expected = profile == FilterProfile::init ? init
                                   : is_compat(profile)           ? compat
                                                                  : strict;
    EXPECT_EQ(answer(profile, call, arguments), expected)
        << to_string(profile) << " call " << call << " of " << arguments[0] << ", " << arguments[1];
  }
}

TEST(FilterRows, C013C028OtherProcessesAndFileHandles) {
  expect_everywhere(
      {SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_process_vm_readv, SYS_process_vm_writev,
       SYS_kcmp, SYS_pidfd_getfd, SYS_process_madvise, SYS_process_mrelease, SYS_ptrace},
      error(EPERM));
}

TEST(FilterRows, C014Devices) {
  for (const std::uint64_t above : Numbers{std::uint64_t{0}, kAbove}) {
    for (const unsigned mode : {S_IFBLK | 0600U, S_IFCHR | 0600U, S_IFDIR | 0700U, S_IFLNK | 0U}) {
      expect_everywhere(SYS_mknod, {0, mode | above, 0x800}, error(EPERM));
      expect_everywhere(SYS_mknodat, {0, 0, mode | above, 0x800}, error(EPERM));
    }
    for (const unsigned mode : {0600U, S_IFREG | 0600U, S_IFIFO | 0600U, S_IFSOCK | 0600U}) {
      EXPECT_EQ(answer(FilterProfile::strict_nosetid, SYS_mknod, {0, mode | above}), kAllowed);
      EXPECT_EQ(answer(FilterProfile::strict_notify, SYS_mknodat, {0, 0, mode | above}), kNotified);
    }
  }
}

struct ModeAct {
  const char* what;
  long call;
  CallArguments arguments;  // with a mode of 0
  unsigned mode;
};

TEST(FilterRows, C016SetIdBits) {
  const ModeAct acts[] = {
      {"chmod", SYS_chmod, {}, 1},
      {"fchmod", SYS_fchmod, {}, 1},
      {"fchmodat", SYS_fchmodat, {}, 2},
      {"fchmodat2", abi::kFchmodat2, {}, 2},
      {"mkdir", SYS_mkdir, {}, 1},
      {"mkdirat", SYS_mkdirat, {}, 2},
      {"mknod", SYS_mknod, {}, 1},
      {"mknodat", SYS_mknodat, {}, 2},
      {"creat", SYS_creat, {}, 1},
      {"open", SYS_open, {0, O_CREAT | O_RDWR}, 2},
      {"open O_TMPFILE", SYS_open, {0, O_TMPFILE | O_RDWR}, 2},
      {"openat", SYS_openat, {0, 0, O_CREAT | O_WRONLY | kAbove}, 3},
      {"openat O_TMPFILE", SYS_openat, {0, 0, O_TMPFILE | O_RDWR}, 3},
  };
  for (const ModeAct& act : acts) {
    for (const unsigned mode : {04755U, 02755U, 06000U, 0755U, 01777U}) {
      CallArguments arguments = act.arguments;
      arguments[act.mode] = mode | kAbove;
      const bool set_id = (mode & 06000U) != 0;
      for (const FilterProfile profile :
           {FilterProfile::strict_nosetid, FilterProfile::compat_nosetid}) {
        EXPECT_EQ(answer(profile, act.call, arguments), set_id ? error(EPERM) : kAllowed)
            << act.what << ' ' << mode;
      }
      EXPECT_EQ(answer(FilterProfile::strict_nosetid_notify, act.call, arguments),
                set_id ? error(EPERM) : kNotified)
          << act.what << ' ' << mode;
      EXPECT_EQ(answer(FilterProfile::strict, act.call, arguments), kAllowed) << act.what;
    }
  }
  // A file that is there keeps its mode: the argument is not looked at.
  EXPECT_EQ(answer(FilterProfile::strict_nosetid, SYS_openat, {0, 0, O_RDONLY, 04755}), kAllowed);
  EXPECT_EQ(answer(FilterProfile::strict_nosetid, SYS_openat2), error(ENOSYS));
  EXPECT_EQ(answer(FilterProfile::strict, SYS_openat2), kAllowed);
}

TEST(FilterRows, C038Personality) {
  for (const std::uint64_t value : Numbers{0x0ULL, 0xFFFFFFFFULL, kAbove}) {
    expect_everywhere(SYS_personality, {value}, kAllowed);
  }
  expect_everywhere(SYS_personality, {0x0400000}, error(EPERM));  // READ_IMPLIES_EXEC
  expect_everywhere(SYS_personality, {0x0040000}, error(EPERM));  // ADDR_NO_RANDOMIZE
  expect_by_base(SYS_personality, {8}, error(EPERM), kAllowed, kAllowed);
  expect_by_base(SYS_personality, {0x20000}, error(EPERM), kAllowed, kAllowed);
}

TEST(FilterRows, C039C040Seccomp) {
  expect_everywhere(SYS_seccomp, {1, 0}, kAllowed);
  expect_everywhere(SYS_seccomp, {1, 1}, kAllowed);
  expect_by_base(SYS_seccomp, {1, 8}, error(EPERM), error(EPERM), kAllowed);
  expect_by_base(SYS_seccomp, {1, 9 | kAbove}, error(EPERM), error(EPERM), kAllowed);
  expect_by_base(SYS_seccomp, {3, 0}, error(EPERM), error(EPERM), kAllowed);
}

TEST(FilterRows, C041Priority) {
  expect_everywhere({SYS_sched_setattr, SYS_sched_setparam, SYS_ioprio_set}, error(EPERM));
  expect_everywhere(SYS_sched_setscheduler, {0, 1}, error(EPERM));           // SCHED_FIFO
  expect_everywhere(SYS_sched_setscheduler, {0, 2 | kAbove}, error(EPERM));  // SCHED_RR
  expect_by_base(SYS_sched_setscheduler, {0, 3}, error(EPERM), kAllowed, kAllowed);
  expect_by_base(SYS_sched_setscheduler, {0, 0x40000000}, error(EPERM), kAllowed, kAllowed);
  expect_by_base(SYS_setpriority, {}, error(EPERM), kAllowed, kAllowed);
}

TEST(FilterRows, C042C104Prctl) {
  for (std::uint64_t option = 0; option <= 80; ++option) {
    const bool known = std::set<std::uint64_t>{1,  2,  3,  4,  7,  15, 16, 21, 22, 23, 27, 29,
                                               30, 34, 36, 37, 38, 39, 40, 41, 42, 47, 52}
                           .contains(option);
    const bool forbidden = std::set<std::uint64_t>{8, 24, 28, 35, 53}.contains(option);
    const std::uint32_t expected = known ? kAllowed : error(forbidden ? EPERM : EINVAL);
    EXPECT_EQ(answer(FilterProfile::strict, SYS_prctl, {option}), expected) << option;
    EXPECT_EQ(answer(FilterProfile::strict, SYS_prctl, {option | kAbove}), expected) << option;
  }
  expect_everywhere(SYS_prctl, {0x59616D61}, error(EPERM));  // PR_SET_PTRACER
  expect_everywhere(SYS_prctl, {0x53564D41}, kAllowed);      // PR_SET_VMA
  expect_everywhere(SYS_prctl, {53, 0, 4}, kAllowed);        // PR_SPEC_DISABLE
  expect_everywhere(SYS_prctl, {53, 0, 2}, error(EPERM));    // PR_SPEC_ENABLE
  expect_everywhere(SYS_prctl, {67, 1}, error(EINVAL));      // PR_SET_MEMORY_MERGE
  expect_by_base(SYS_prctl, {47, 2}, error(EPERM), error(EPERM), kAllowed);
  expect_by_base(SYS_prctl, {28}, error(EPERM), error(EPERM), kAllowed);
  expect_by_base(SYS_prctl, {8, 1}, error(EPERM), kAllowed, kAllowed);
  expect_everywhere(SYS_arch_prctl, {0x1002}, kAllowed);
  expect_everywhere(SYS_arch_prctl, {0x1012}, error(EINVAL));  // ARCH_SET_CPUID
}

TEST(FilterRows, C063C064NamespaceFlags) {
  for (const std::uint64_t flag : Numbers{CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                          CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    for (const std::uint64_t above : Numbers{std::uint64_t{0}, kAbove}) {
      expect_everywhere(SYS_clone, {(flag & kLowHalf) | above | SIGCHLD}, error(EPERM));
      expect_everywhere(SYS_unshare, {(flag & kLowHalf) | above}, error(EPERM));
    }
  }
  expect_everywhere(SYS_unshare, {CLONE_NEWTIME}, error(EPERM));
  expect_everywhere(SYS_unshare, {CLONE_FILES | CLONE_FS | CLONE_SYSVSEM}, kAllowed);
  expect_everywhere(SYS_clone, {0x80}, kAllowed);
  // A thread, and how a spawner starts a program.
  expect_everywhere(SYS_clone, {0x3D0F00}, kAllowed);
  expect_everywhere(SYS_clone, {CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD}, kAllowed);
  expect_everywhere({SYS_clone3}, error(ENOSYS));
}

TEST(FilterRows, C065ToC067MountsAndNamespaces) {
  expect_everywhere({SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_fsopen,
                     SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_move_mount, SYS_open_tree,
                     abi::kOpenTreeAttr, SYS_mount_setattr, abi::kListns},
                    error(EPERM));
  expect_everywhere(SYS_ioctl, {0, 0xB701 | kAbove}, error(EPERM));  // NS_GET_USERNS
}

TEST(FilterRows, C079Ids) {
  for (const long call : std::initializer_list<long>{
           SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid,
           SYS_setgroups, SYS_setfsuid, SYS_setfsgid, SYS_capset}) {
    expect_by_base(call, {}, error(EPERM), kAllowed, kAllowed);
  }
}

TEST(FilterRows, C083ToC095PartsOfTheKernel) {
  expect_everywhere({SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_vmsplice,
                     SYS_remap_file_pages, SYS_memfd_secret, abi::kUretprobe, abi::kUprobe,
                     abi::kMapShadowStack, abi::kFutexRequeue, SYS_uselib, SYS_ustat, SYS_sysfs,
                     SYS__sysctl, SYS_nfsservctl, abi::kLsmGetSelfAttr, abi::kLsmListModules},
                    error(ENOSYS));
  expect_everywhere({SYS_bpf,
                     SYS_perf_event_open,
                     SYS_userfaultfd,
                     SYS_keyctl,
                     SYS_add_key,
                     SYS_request_key,
                     SYS_init_module,
                     SYS_finit_module,
                     SYS_delete_module,
                     SYS_kexec_load,
                     SYS_kexec_file_load,
                     SYS_iopl,
                     SYS_ioperm,
                     SYS_modify_ldt,
                     SYS_swapon,
                     SYS_swapoff,
                     SYS_acct,
                     SYS_quotactl,
                     SYS_quotactl_fd,
                     SYS_reboot,
                     SYS_syslog,
                     SYS_settimeofday,
                     SYS_clock_settime,
                     SYS_adjtimex,
                     SYS_clock_adjtime,
                     SYS_sethostname,
                     SYS_setdomainname,
                     SYS_vhangup,
                     SYS_lookup_dcookie,
                     SYS_move_pages,
                     SYS_migrate_pages,
                     SYS_mbind,
                     SYS_set_mempolicy,
                     SYS_set_mempolicy_home_node,
                     SYS_fanotify_init,
                     SYS_fanotify_mark,
                     abi::kLsmSetSelfAttr},
                    error(EPERM));
  expect_everywhere({abi::kMseal, SYS_splice}, kAllowed);
  expect_by_base(SYS_tee, {}, error(ENOSYS), kAllowed, kAllowed);
  for (const std::uint64_t command :
       Numbers{11ULL, 12ULL, 11ULL | 0x180ULL, 12ULL | 0x80ULL | kAbove}) {
    expect_everywhere(SYS_futex, {0, command}, error(ENOSYS));
  }
  for (const std::uint64_t command : Numbers{0ULL, 1ULL | 0x80ULL, 9ULL | 0x180ULL, 13ULL}) {
    expect_everywhere(SYS_futex, {0, command}, kAllowed);
  }
}

TEST(FilterRows, C096SocketFamilies) {
  for (std::uint64_t family = 0; family <= 63; ++family) {
    const bool known = family == 1 || family == 2 || family == 10 || family == 16;
    for (const std::uint64_t above : Numbers{std::uint64_t{0}, kAbove}) {
      expect_everywhere(SYS_socket, {family | above, SOCK_DGRAM | SOCK_CLOEXEC, 0},
                        known ? kAllowed : error(EAFNOSUPPORT));
      expect_everywhere(SYS_socketpair, {family | above, SOCK_STREAM, 0},
                        family == 1 ? kAllowed : error(EAFNOSUPPORT));
    }
  }
}

TEST(FilterRows, C097SocketTypesAndProtocols) {
  for (const std::uint64_t family : Numbers{AF_INET, AF_INET6}) {
    for (std::uint64_t type = 0; type < 16; ++type) {
      for (std::uint64_t protocol = 0; protocol < 300; ++protocol) {
        const std::uint32_t got =
            answer(FilterProfile::strict, SYS_socket, {family, type | SOCK_NONBLOCK, protocol});
        const bool fine = (type == 1 && (protocol == 0 || protocol == 6)) ||
                          (type == 2 && (protocol == 0 || protocol == 17));
        const int refusal = type == 1 || type == 2 ? EPROTONOSUPPORT : EPERM;
        ASSERT_EQ(got, fine ? kAllowed : error(refusal)) << type << ' ' << protocol;
      }
    }
  }
  expect_everywhere(SYS_socket, {AF_UNIX, SOCK_SEQPACKET}, kAllowed);
  expect_everywhere(SYS_socket, {AF_UNIX, SOCK_RAW}, error(EPERM));
}

TEST(FilterRows, C098NetlinkIsForRoutesOnly) {
  for (std::uint64_t protocol = 0; protocol < 40; ++protocol) {
    expect_everywhere(SYS_socket, {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol | kAbove},
                      protocol == 0 ? kAllowed : error(EPROTONOSUPPORT));
  }
  expect_everywhere(SYS_socket, {AF_NETLINK, SOCK_STREAM, 0}, error(EPERM));
}

TEST(FilterRows, C099SocketOptions) {
  constexpr std::uint64_t kRefused[][2] = {{6, 31}, {6, 19}, {279, 1}, {263, 18}, {283, 1},
                                           {0, 17}, {0, 16}, {0, 64},  {41, 35},  {41, 64},
                                           {1, 26}, {1, 50}, {1, 51},  {1, 52},   {17, 100}};
  for (const auto& [level, option] : kRefused) {
    expect_everywhere(SYS_setsockopt, {3, level, option}, error(EPERM));
    expect_everywhere(SYS_setsockopt, {3, level | kAbove, option | kAbove}, error(EPERM));
  }
  constexpr std::uint64_t kFine[][2] = {{6, 1}, {1, 2},   {1, 9},    {1, 15},
                                        {0, 1}, {41, 26}, {17, 103}, {1, 49}};
  for (const auto& [level, option] : kFine) {
    expect_everywhere(SYS_setsockopt, {3, level, option}, kAllowed);
  }
}

TEST(FilterRows, C103Ioctls) {
  for (const std::uint64_t above : Numbers{std::uint64_t{0}, kAbove}) {
    for (const std::uint64_t command :
         Numbers{0x5412, 0x541C, 0x541D, 0x5423, 0x5601, 0x56FF, 0x4B3A}) {
      expect_everywhere(SYS_ioctl, {0, command | above}, error(EPERM));
    }
    // Those of a spawner among them: controlling terminal, and a new pty.
    for (const std::uint64_t command :
         Numbers{0x5401ULL, 0x5413ULL, 0x541BULL, 0x540EULL, 0x40045431ULL, 0x80045430ULL,
                 0x5441ULL, 0x8912ULL, 0x40049409ULL}) {
      expect_everywhere(SYS_ioctl, {0, command | above}, kAllowed);
    }
    for (const std::uint64_t command : Numbers{0x0ULL, 0x1234ULL, 0x5424ULL, 0xC0189436ULL}) {
      expect_everywhere(SYS_ioctl, {0, command | above}, error(ENOTTY));
    }
  }
}

TEST(FilterRows, C231MergedPages) {
  expect_everywhere(SYS_madvise, {0, 0, 12 | kAbove}, error(EINVAL));
  expect_everywhere(SYS_madvise, {0, 0, 4}, kAllowed);
}

TEST(FilterRows, LimitsAreOnesOwn) {
  expect_everywhere(SYS_prlimit64, {0}, kAllowed);
  expect_everywhere(SYS_prlimit64, {kAbove}, kAllowed);
  expect_everywhere(SYS_prlimit64, {1}, error(EPERM));
}

TEST(FilterRows, CompatGivesBack) {
  for (const long call :
       std::initializer_list<long>{SYS_shmget, SYS_semop, SYS_msgctl, SYS_mq_open, SYS_pidfd_open,
                                   SYS_pidfd_send_signal, SYS_io_setup, SYS_io_pgetevents}) {
    expect_by_base(call, {}, error(ENOSYS), kAllowed, kAllowed);
  }
  for (const long call : std::initializer_list<long>{SYS_mlock, SYS_mlock2, SYS_mlockall}) {
    expect_by_base(call, {}, error(EPERM), kAllowed, kAllowed);
  }
}

TEST(FilterRows, NotifyTellsOfExecsConnectsAndIntentionsToWrite) {
  for (const FilterProfile profile :
       {FilterProfile::strict_notify, FilterProfile::compat_nosetid_notify}) {
    for (const long call :
         std::initializer_list<long>{SYS_execve,    SYS_execveat, SYS_connect,
                                     SYS_creat,     SYS_unlink,   SYS_unlinkat,
                                     SYS_rmdir,     SYS_rename,   SYS_renameat,
                                     SYS_renameat2, SYS_mkdir,    SYS_mkdirat,
                                     SYS_link,      SYS_linkat,   SYS_symlink,
                                     SYS_symlinkat, SYS_truncate, SYS_chmod,
                                     SYS_fchmod,    SYS_fchmodat, long{abi::kFchmodat2},
                                     SYS_mknod,     SYS_mknodat}) {
      EXPECT_EQ(answer(profile, call), kNotified) << call;
    }
    for (const std::uint64_t flags :
         Numbers{O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_TMPFILE | O_RDWR}) {
      EXPECT_EQ(answer(profile, SYS_open, {0, flags | kAbove}), kNotified) << flags;
      EXPECT_EQ(answer(profile, SYS_openat, {0, 0, flags | kAbove}), kNotified) << flags;
    }
    EXPECT_EQ(answer(profile, SYS_openat, {0, 0, O_RDONLY | O_CLOEXEC | kAbove}), kAllowed);
    for (const long call :
         std::initializer_list<long>{SYS_read, SYS_write, SYS_sendto, SYS_stat, SYS_clone}) {
      EXPECT_EQ(answer(profile, call), kAllowed) << call;
    }
    EXPECT_EQ(answer(profile, SYS_mount), error(EPERM));
  }
  EXPECT_EQ(answer(FilterProfile::init, SYS_execve), kAllowed);
}

}  // namespace
}  // namespace cordon::os
