// SPDX-License-Identifier: Apache-2.0
// Group G, calls: the filter must answer, not the kernel.
//
// Arguments are NULL and -1, so that the kernel alone would say EFAULT, EBADF or EINVAL, and so
// that nothing happens where a call does come through.
#include <array>
#include <cerrno>
#include <csignal>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

void io_uring(const Words&, Findings& out) {
  out.refused("io_uring_setup", call(SYS_io_uring_setup, 1, nullptr), {ENOSYS});
  out.refused("io_uring_enter", call(SYS_io_uring_enter, -1, 0, 0, 0, nullptr, 0), {ENOSYS});
  out.refused("io_uring_register", call(SYS_io_uring_register, -1, 0, nullptr, 0), {ENOSYS});
  std::array<unsigned char, 120> parameters{};
  const Answer ring = call(SYS_io_uring_setup, 4, parameters.data());
  out.attempt("make a ring", ring, {ENOSYS, EPERM});
  if (!ring.failed()) ::close(static_cast<int>(ring.value));
}

void bpf(const Words&, Findings& out) {
  out.refused("bpf", call(SYS_bpf, -1, nullptr, 0), {EPERM});
  constexpr long kMapCreate = 0;
  constexpr long kProgLoad = 5;
  // An array of one number; a program of two steps, whose license needs no reading.
  std::array<unsigned, 18> map = {2, 4, 8, 1};
  const Answer made = call(SYS_bpf, kMapCreate, map.data(), sizeof map);
  out.attempt("make a map", made, {EPERM});
  if (!made.failed()) ::close(static_cast<int>(made.value));
  const std::array<unsigned long, 2> steps = {0xb7, 0x95};  // r0 = 0; exit
  struct {
    unsigned type = 1;  // a filter of sockets
    unsigned count = 2;
    const void* steps = nullptr;
    const void* license = "GPL";
    std::array<unsigned long, 6> more{};
  } program;
  program.steps = steps.data();
  const Answer loaded = call(SYS_bpf, kProgLoad, &program, sizeof program);
  out.attempt("load a program", loaded, {EPERM});
  if (!loaded.failed()) ::close(static_cast<int>(loaded.value));
}

void perf(const Words&, Findings& out) {
  out.refused("perf_event_open", call(SYS_perf_event_open, nullptr, 0, -1, -1, 0), {EPERM});
  // The processor's clock of our own process, in user mode only: what an ordinary user may.
  std::array<unsigned long, 16> event{};
  event[0] = 1UL | (sizeof event << 32U);
  event[5] = (1UL << 5U) | (1UL << 6U);  // not the kernel, not a hypervisor
  const Answer counter = call(SYS_perf_event_open, event.data(), 0, -1, -1, 0);
  out.attempt("count our own time", counter, {EPERM, EACCES});
  if (!counter.failed()) ::close(static_cast<int>(counter.value));
}

void userfaultfd(const Words&, Findings& out) {
  out.refused("userfaultfd", call(SYS_userfaultfd, 0), {EPERM});
  out.refused("userfaultfd, user mode only", call(SYS_userfaultfd, 1), {EPERM});
  out.refused("/dev/userfaultfd", try_open("/dev/userfaultfd", O_RDWR), {ENOENT});
}

void keys(const Words&, Findings& out) {
  constexpr long kGetKeyringId = 0;
  constexpr long kSessionKeyring = -3;
  out.refused("keyctl", call(SYS_keyctl, kGetKeyringId, kSessionKeyring, 0), {EPERM});
  out.refused("add_key", call(SYS_add_key, nullptr, nullptr, nullptr, 0, 0), {EPERM});
  out.refused("request_key", call(SYS_request_key, nullptr, nullptr, nullptr, 0), {EPERM});
}

void modules(const Words&, Findings& out) {
  out.refused("init_module", call(SYS_init_module, nullptr, 0, nullptr), {EPERM});
  out.refused("finit_module", call(SYS_finit_module, -1, nullptr, 0), {EPERM});
  out.refused("delete_module", call(SYS_delete_module, nullptr, 0), {EPERM});
  out.refused("kexec_load", call(SYS_kexec_load, 0, -1, nullptr, -1), {EPERM});
  out.refused("kexec_file_load", call(SYS_kexec_file_load, -1, -1, 0, nullptr, -1), {EPERM});
  // A kernel without modules has not the calls either. None has bytes that could be loaded.
  out.attempt("load a module", call(SYS_init_module, "", 1, ""), {EPERM, ENOSYS});
  out.attempt("load a module by descriptor", call(SYS_finit_module, 0, "", 0), {EPERM, ENOSYS});
  out.attempt("remove a module", call(SYS_delete_module, "none", O_NONBLOCK), {EPERM, ENOSYS});
  out.attempt("load a kernel", call(SYS_kexec_load, 0, 1, nullptr, 0), {EPERM, ENOSYS});
  out.attempt("load a kernel by descriptor", call(SYS_kexec_file_load, 0, -1, 1, "", 0),
              {EPERM, ENOSYS});
}

void ports(const Words&, Findings& out) {
#if defined(__x86_64__)
  out.refused("iopl", ask_child([] { return call(SYS_iopl, 0); }), {EPERM, ENOSYS});
  out.refused("ioperm", ask_child([] { return call(SYS_ioperm, 0, 1, 0); }), {EPERM, ENOSYS});
  out.refused("modify_ldt", call(SYS_modify_ldt, 0, nullptr, 0), {EPERM, ENOSYS});
#else
  out.skip("only on x86");
#endif
}

struct Call {
  const char* name;
  long number;
  long first;
  long second;
};

void table(Findings& out, std::span<const Call> calls, std::initializer_list<int> errors) {
  for (const Call& each : calls) {
    out.refused(each.name,
                ask_child([&] { return call(each.number, each.first, each.second, 0, 0, 0, 0); }),
                errors);
  }
}

// For each, arguments that mean nothing even to a caller who may.
void administration(const Words&, Findings& out) {
  constexpr Call kCalls[] = {
      {"swapon", SYS_swapon, 0, 0},
      {"swapoff", SYS_swapoff, 0, 0},
      {"acct", SYS_acct, 1, 0},
      {"quotactl", SYS_quotactl, -1, 0},
      {"quotactl_fd", SYS_quotactl_fd, -1, -1},
      {"reboot", SYS_reboot, 0, 0},
      {"syslog", SYS_syslog, -1, 0},
      {"settimeofday", SYS_settimeofday, 1, 1},
      {"clock_settime", SYS_clock_settime, -1, 0},
      {"adjtimex", SYS_adjtimex, 0, 0},
      {"clock_adjtime", SYS_clock_adjtime, -1, 0},
      {"sethostname", SYS_sethostname, 0, -1},
      {"setdomainname", SYS_setdomainname, 0, -1},
      {"lookup_dcookie", SYS_lookup_dcookie, 0, 0},
#if defined(__x86_64__)
      {"uselib", SYS_uselib, 0, 0},
      {"ustat", SYS_ustat, -1, 0},
      {"sysfs", SYS_sysfs, -1, 0},
      {"_sysctl", SYS__sysctl, 0, 0},
#endif
      {"nfsservctl", SYS_nfsservctl, -1, 0},
  };
  table(out, kCalls, {EPERM, ENOSYS});
  // It has no arguments; who may would hang up the terminal of whoever runs this.
  if (::geteuid() != 0)
    out.refused("vhangup", ask_child([] { return call(SYS_vhangup); }), {EPERM});
}

void memory_policy(const Words&, Findings& out) {
  constexpr Call kCalls[] = {
      {"move_pages", SYS_move_pages, 0, 0},
      {"migrate_pages", SYS_migrate_pages, 0, 0},
      {"mbind", SYS_mbind, 0, 0},
      {"set_mempolicy", SYS_set_mempolicy, 0, 0},
      {"set_mempolicy_home_node", SYS_set_mempolicy_home_node, 0, 0},
  };
  table(out, kCalls, {EPERM, ENOSYS});
}

void splicing(const Words&, Findings& out) {
  constexpr Call kCalls[] = {{"vmsplice", SYS_vmsplice, -1, 0},
                             {"tee", SYS_tee, -1, -1},
                             {"remap_file_pages", SYS_remap_file_pages, 1, 0}};
  table(out, kCalls, {ENOSYS});
}

void fanotify(const Words&, Findings& out) {
  constexpr long kReportFid = 0x200;
  out.refused("fanotify_init", call(SYS_fanotify_init, kReportFid, 0), {EPERM});
}

constexpr long kUretprobe = 335;
constexpr long kMapShadowStack = 453;
constexpr long kFutexRequeue = 456;
constexpr long kLsmSetSelfAttr = 460;
constexpr long kMseal = 462;

void recent_calls(const Words&, Findings& out) {
  out.refused("memfd_secret", call(SYS_memfd_secret, -1), {ENOSYS});
  // Newer kernels let it pass every filter, and end whoever calls it from elsewhere than their own
  // trampoline.
  out.refused("uretprobe", ask_child([] { return call(kUretprobe); }), {ENOSYS, EINTR});
  out.refused("map_shadow_stack", call(kMapShadowStack, 0, 0, -1), {ENOSYS});
  out.refused("lsm_set_self_attr", call(kLsmSetSelfAttr, 0, nullptr, 0, -1), {EPERM, ENOSYS});
  // It can only take rights from oneself: either way is a decision, so it is told and not judged.
  out.holds("mseal", true, text_of(call(kMseal, 1, 0, 0)));
}

void futexes(const Words&, Findings& out) {
  int word = 0;
  const auto operation = [&](int op) {
    return call(SYS_futex, &word, op | FUTEX_PRIVATE_FLAG, -1, nullptr, nullptr, 0);
  };
  out.refused("FUTEX_WAIT_REQUEUE_PI", operation(FUTEX_WAIT_REQUEUE_PI), {ENOSYS});
  out.refused("FUTEX_CMP_REQUEUE_PI", operation(FUTEX_CMP_REQUEUE_PI), {ENOSYS});
  out.refused("futex_requeue", call(kFutexRequeue, nullptr, 0, 0, 0), {ENOSYS});
  const Answer wake =
      call(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
  out.control("FUTEX_WAKE", !wake.failed(), text_of(wake));
}

void foreign_entry(const Words&, Findings& out) {
#if defined(__x86_64__)
  const int code = in_child([] {
    (void)std::signal(SIGSYS, SIG_DFL);
    int pid = 20;  // getpid of i386
    __asm__ volatile("int $0x80" : "+a"(pid) : : "memory", "r8", "r9", "r10", "r11");
    // Where the entry is not built at all, it is SIGSEGV.
    return pid > 0 ? 0 : 1;
  });
  out.holds("int 0x80", code == 128 + SIGSYS, "exit " + std::to_string(code));
  if (code == 128 + SIGSEGV) out.vacuous("this kernel has no i386 entry");
#else
  out.skip("only on x86");
#endif
}

void x32_numbers(const Words&, Findings& out) {
  constexpr long kX32 = 0x40000000;
  for (const long number : {SYS_getpid, SYS_read, SYS_openat, SYS_ioctl, 512, 520}) {
    out.refused("x32 " + std::to_string(number), call(number | kX32, -1, nullptr, 0), {ENOSYS});
  }
}

void unknown_numbers(const Words&, Findings& out) {
  std::string answered;
  for (long number = 471; number <= 1000; ++number) {
    const Answer got = call(number, -1, -1, -1, -1, -1, -1);
    if (!(got.failed() && got.error == ENOSYS)) answered += std::to_string(number) + " ";
  }
  out.holds("471 to 1000", answered.empty(), answered.empty() ? "all ENOSYS" : answered);
  out.refused("-1", call(-1, -1), {ENOSYS});
}

void other_controls(const Words&, Findings& out) {
#if defined(__x86_64__)
  out.refused("arch_prctl 0x9999", call(SYS_arch_prctl, 0x9999, 0), {EINVAL, EPERM});
  constexpr long kRequestXcompGuest = 0x1025;
  out.refused("arch_prctl guest state", call(SYS_arch_prctl, kRequestXcompGuest, 63),
              {EINVAL, EPERM});
#endif
  std::string reached;
  for (long option = 80; option < 200; ++option) {
    const Answer got = call(SYS_prctl, option, -1, -1, -1, -1);
    if (!(got.failed() && (got.error == EINVAL || got.error == EPERM)))
      reached += std::to_string(option) + " ";
  }
  out.holds("prctl 80 to 199", reached.empty(), reached.empty() ? "all refused" : reached);
  out.refused("seccomp operation 99", call(SYS_seccomp, 99, 0, nullptr), {EINVAL, EPERM});
}

constexpr Row kRows[] = {
    {"C083", io_uring},       {"C084", bpf},
    {"C085", perf},           {"C086", userfaultfd},
    {"C087", keys},           {"C088", modules},
    {"C089", ports},          {"C090", administration},
    {"C091", memory_policy},  {"C092", splicing},
    {"C093", fanotify},       {"C094", recent_calls},
    {"C095", futexes},        {"C100", foreign_entry},
    {"C101", x32_numbers},    {"C102", unknown_numbers},
    {"C104", other_controls},
};

}  // namespace

std::span<const Row> syscall_rows() { return kRows; }

}  // namespace cordon::probe
