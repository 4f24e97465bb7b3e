// SPDX-License-Identifier: Apache-2.0
// Group G, the whole table: every number once, and every rule from both sides.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>
#include <sched.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "refusals.h"

namespace cordon::probe {
namespace {

constexpr long kNumbers = 600;
constexpr int kOpenTreeAttr = 467;
constexpr long kWaitMicroseconds = 100'000;

// What a number answers to six times -1: an error, 0 for "reached the kernel" in any other way.
int verdict_of(long number) {
  void* const shared =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const error = static_cast<volatile int*>(shared);
  *error = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    const itimerval soon{{0, 0}, {0, kWaitMicroseconds}};
    (void)std::signal(SIGALRM, SIG_DFL);
    (void)::setitimer(ITIMER_REAL, &soon, nullptr);
    const Answer got = call(number, -1, -1, -1, -1, -1, -1);
    *error = got.failed() ? got.error : 0;
    ::_exit(0);
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
  const int verdict = killed ? -SIGSYS : *error;
  (void)::munmap(shared, 4096);
  return verdict;
}

// What section 4 of the design demands by name, whatever the profile.
const std::map<long, int>& demanded() {
  static const std::map<long, int> table = [] {
    std::map<long, int> all;
    for (const long number : {SYS_setns,
                              SYS_mount,
                              SYS_umount2,
                              SYS_pivot_root,
                              SYS_chroot,
                              SYS_fsopen,
                              SYS_fsconfig,
                              SYS_fsmount,
                              SYS_fspick,
                              SYS_move_mount,
                              SYS_open_tree,
                              SYS_mount_setattr,
                              SYS_bpf,
                              SYS_perf_event_open,
                              SYS_userfaultfd,
                              SYS_keyctl,
                              SYS_add_key,
                              SYS_request_key,
                              SYS_fanotify_init,
                              SYS_open_by_handle_at,
                              SYS_name_to_handle_at,
                              SYS_kcmp,
                              SYS_pidfd_getfd,
                              SYS_process_vm_readv,
                              SYS_process_vm_writev,
                              SYS_process_madvise,
                              SYS_quotactl,
                              SYS_acct,
                              SYS_swapon,
                              SYS_swapoff,
                              SYS_reboot,
                              SYS_syslog,
                              SYS_sethostname,
                              SYS_setdomainname,
                              SYS_settimeofday,
                              SYS_clock_settime,
                              SYS_init_module,
                              SYS_finit_module,
                              SYS_delete_module,
                              SYS_kexec_load,
                              SYS_move_pages,
                              SYS_migrate_pages,
                              SYS_mbind,
                              SYS_set_mempolicy,
                              SYS_vhangup,
                              kOpenTreeAttr}) {
      all[number] = EPERM;
    }
    for (const long number :
         {SYS_clone3, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_vmsplice,
          SYS_remap_file_pages, SYS_memfd_secret}) {
      all[number] = ENOSYS;
    }
    return all;
  }();
  return table;
}

// `--golden FILE`: lines "number verdict", verdict one of allow, EPERM, ENOSYS, rule.
std::map<long, std::string> golden(const std::string& path) {
  std::map<long, std::string> all;
  std::istringstream lines{path.empty() ? "" : read_text(path)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    long number = 0;
    std::string verdict;
    if (words >> number >> verdict) all[number] = verdict;
  }
  return all;
}

void every_number(const Words& words, Findings& out) {
  const std::map<long, std::string> expected = golden(words.get("golden"));
  std::string wrong;
  long reached = 0;
  for (long number = 0; number <= kNumbers; ++number) {
    const int verdict = verdict_of(number);
    const bool blocked = verdict == ENOSYS || verdict == EPERM || verdict == -SIGSYS;
    reached += blocked ? 0 : 1;
    const auto demand = demanded().find(number);
    if (demand != demanded().end() && verdict != demand->second)
      wrong += std::to_string(number) + " ";
    const auto golden_line = expected.find(number);
    if (golden_line == expected.end()) continue;
    const bool denied = golden_line->second != "allow" && golden_line->second != "rule";
    if (denied && !blocked) wrong += std::to_string(number) + " ";
  }
  out.holds("numbers that must be refused", wrong.empty(), wrong.empty() ? "all are" : wrong);
  const long most = words.number("most", 240);
  out.holds("calls that reach the kernel", reached <= most,
            std::to_string(reached) + " of at most " + std::to_string(most));
}

// Each rule with arguments from both sides: what it allows passes, what it forbids does not.
void both_sides(bool strict, Findings& out) {
  const auto passes = [&](const char* what, const Answer& got, int kernels_error) {
    out.control(what, !got.failed() || got.error == kernels_error, text_of(got));
  };
  passes("unshare FILES", ask_child([] { return call(SYS_unshare, CLONE_FILES); }), 0);
  out.refused("unshare NEWUSER", ask_child([] { return call(SYS_unshare, CLONE_NEWUSER); }),
              {EPERM});
  passes("socket UNIX", call(SYS_socket, AF_UNIX, SOCK_STREAM, 0), 0);
  out.refused("socket VSOCK", call(SYS_socket, AF_VSOCK, SOCK_STREAM, 0), {EAFNOSUPPORT});
  passes("ioctl TIOCGWINSZ", call(SYS_ioctl, -1, TIOCGWINSZ, nullptr), EBADF);
  out.refused("ioctl TIOCSTI", call(SYS_ioctl, -1, TIOCSTI, nullptr), {EPERM, ENOTTY});
  std::array<char, 16> name{};
  passes("prctl GET_NAME", call(SYS_prctl, PR_GET_NAME, name.data(), 0, 0, 0), 0);
  // The wider filter lets capabilities that were granted outlive a change of ids.
  if (strict) {
    out.refused("prctl SET_KEEPCAPS",
                ask_child([] { return call(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0); }),
                {EPERM, EINVAL});
  }
  passes("mknodat FIFO", call(SYS_mknodat, -1, "x", S_IFIFO | 0600, 0), EBADF);
  out.refused("mknodat device", call(SYS_mknodat, -1, "x", S_IFCHR | 0600, 0), {EPERM});
  rlimit limit{};
  passes("prlimit64 of oneself", call(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit), 0);
  out.refused("prlimit64 by number",
              call(SYS_prlimit64, ::getpid(), RLIMIT_NOFILE, nullptr, &limit), {EPERM});
  passes("setsockopt REUSEADDR", call(SYS_setsockopt, -1, SOL_SOCKET, SO_REUSEADDR, nullptr, 0),
         EBADF);
  out.refused("setsockopt ATTACH_BPF", call(SYS_setsockopt, -1, SOL_SOCKET, 50, nullptr, 0),
              {EPERM});
}

// `--sweep FILE`, `--profile NAME`: what the filters answer to each number and each argument that a
// rule looks at, as tests/filter/golden/sweep.txt has it. Everything that is refused there is
// tried, each number in a process of its own: what comes through meets arguments without a meaning.
void both_sides_and_all(const Words& words, Findings& out) {
  both_sides(!words.get("profile").starts_with("compat"), out);
  if (!words.has("sweep")) return;
  const std::vector<Refusal> all = refusals(words.get("sweep"), words.get("profile"));
  out.control("the list of refusals can be read", all.size() > 1000, std::to_string(all.size()));
  std::size_t tried = 0;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(
        first, all.end(), [&](const Refusal& each) { return each.number != first->number; });
    const std::string wrong = try_all({first, last});
    if (!wrong.empty()) out.holds("call " + std::to_string(first->number), false, wrong);
    tried += static_cast<std::size_t>(last - first);
    first = last;
  }
  out.holds("refusals tried", true, std::to_string(tried));
}

constexpr Row kRows[] = {{"C105", every_number}, {"C106", both_sides_and_all}};

}  // namespace

std::span<const Row> sweep_rows() { return kRows; }

}  // namespace cordon::probe
