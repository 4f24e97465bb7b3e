// SPDX-License-Identifier: Apache-2.0
// Groups B, F and U: what a process may become, and whether it can loosen its own fences.
#include <array>
#include <cerrno>
#include <cstring>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

std::string status_line(const std::string& task, const std::string& key) {
  std::istringstream lines{read_text(task + "/status")};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ":")) {
      const std::size_t at = line.find_first_not_of(" \t", key.size() + 1);
      return at == std::string::npos ? "" : line.substr(at);
    }
  }
  return "absent";
}

// Every task of our own processes that can be read: /proc hides what is not ours.
std::vector<std::string> tasks() {
  std::vector<std::string> found;
  for (const std::string& pid : pids()) {
    if (pid == "1") continue;  // the first process has another filter, by design
    const std::string base = "/proc/" + pid + "/task";
    for (const std::string& task : names_in(base)) found.push_back(joined({base, "/", task}));
  }
  return found;
}

void personalities(const Words&, Findings& out) {
  for (const unsigned long each : {0x0400000UL, 0x0040000UL, 0x0020000UL}) {
    std::array<char, 16> name{};
    (void)std::snprintf(name.data(), name.size(), "%#lx", each);
    out.refused(std::string{"personality "} + name.data(),
                ask_child([&] { return call(SYS_personality, each); }), {EPERM, ENOSYS});
  }
}

sock_fprog allow_all() {
  static std::array<sock_filter, 1> program = {{{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  return {static_cast<unsigned short>(program.size()), program.data()};
}

void loosen(const Words&, Findings& out) {
  for (const std::string& task : {std::string{"/proc/self"}, std::string{"/proc/thread-self"}}) {
    out.holds("NoNewPrivs of " + task, status_line(task, "NoNewPrivs") == "1",
              status_line(task, "NoNewPrivs"));
    out.holds("Seccomp of " + task, status_line(task, "Seccomp") == "2",
              status_line(task, "Seccomp"));
  }
  out.refused("PR_SET_NO_NEW_PRIVS 0", answer(::prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0)),
              {EINVAL, EPERM});
  // A permissive filter on top must not change the answer below it.
  out.refused("unshare under a permissive filter", ask_child([] {
                const sock_fprog program = allow_all();
                (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                (void)call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
                return answer(::unshare(CLONE_NEWUSER));
              }),
              {EPERM});
  out.refused("strict mode is no way back", ask_child([] {
                return answer(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_DISABLED, 0, 0, 0));
              }),
              {EINVAL, EPERM, EACCES});
}

void listener(const Words&, Findings& out) {
  out.refused("seccomp with a listener", ask_child([] {
                const sock_fprog program = allow_all();
                (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                return call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                            &program);
              }),
              {EPERM});
}

void priority(const Words&, Findings& out) {
  const auto refused = {EPERM, EACCES, ENOSYS};
  const sched_param first{.sched_priority = 1};
  out.refused("nice -5", ask_child([] { return call(SYS_setpriority, PRIO_PROCESS, 0, -5); }),
              refused);
  out.refused("SCHED_FIFO",
              ask_child([&] { return call(SYS_sched_setscheduler, 0, SCHED_FIFO, &first); }),
              refused);
  constexpr int kRealTime = (1 << 13) | 4;
  out.refused("real-time I/O", ask_child([] { return call(SYS_ioprio_set, 1, 0, kRealTime); }),
              refused);
}

void process_controls(const Words&, Findings& out) {
  const auto refused = {EPERM, EINVAL, EACCES, ENODEV, ENXIO};
  const auto control = [](int option, unsigned long second, unsigned long third) {
    return ask_child([=] { return call(SYS_prctl, option, second, third, 0, 0); });
  };
  out.refused("PR_SET_MM", control(PR_SET_MM, PR_SET_MM_BRK, 0), refused);
  out.refused("PR_SET_PTRACER", control(PR_SET_PTRACER, ~0UL, 0), refused);
  out.refused("PR_SET_SECUREBITS", control(PR_SET_SECUREBITS, 1, 0), refused);
  out.refused("PR_SET_KEEPCAPS", control(PR_SET_KEEPCAPS, 1, 0), refused);
  out.refused("PR_SET_SPECULATION_CTRL enable",
              control(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, PR_SPEC_ENABLE), refused);
  out.refused("PR_CAP_AMBIENT raise", control(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 0), refused);
  const Answer name = answer(::prctl(PR_SET_NAME, "probe", 0, 0, 0));
  out.control("PR_SET_NAME", !name.failed(), text_of(name));
}

void capability_sets(const Words&, Findings& out) {
  const std::vector<std::string> all = tasks();
  out.control("tasks can be read", !all.empty(), "/proc shows none");
  for (const std::string& task : all) {
    // A task that ended meanwhile has no lines.
    if (status_line(task, "CapEff") == "absent") continue;
    for (const char* const key : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
      const std::string set = status_line(task, key);
      if (set.find_first_not_of('0') != std::string::npos) out.holds(task + " " + key, false, set);
    }
    for (const auto& [key, wanted] : {std::pair{"NoNewPrivs", "1"}, std::pair{"Seccomp", "2"}}) {
      const std::string seen = status_line(task, key);
      if (seen != wanted) out.holds(task + " " + key, false, seen);
    }
  }
  out.holds("tasks looked at", true, std::to_string(all.size()));
}

// `--set-id FILE` is owned by the host's root and has the set-user-id bit.
void set_id_program(const Words& words, Findings& out) {
  const std::string program = words.get("set-id");
  if (program.empty()) return out.skip("no set-id program given");
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return out.skip("pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::dup2(ends[1], STDOUT_FILENO);
    (void)::execl(program.c_str(), program.c_str(), "--whoami", nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::array<char, 64> text{};
  (void)!::read(ends[0], text.data(), text.size() - 1);
  ::close(ends[0]);
  int status = 0;
  (void)::waitpid(child, &status, 0);
  std::string said = text.data();
  said = said.substr(0, said.find('\n'));
  const std::string own = std::to_string(::geteuid()) + " " + std::to_string(::getegid());
  const bool failed = WIFEXITED(status) && WEXITSTATUS(status) == 127;
  out.holds("a set-id program gives nothing", failed || said == own,
            failed ? "does not start" : "became " + said);
}

void change_ids(const Words&, Findings& out) {
  const auto refused = {EPERM, ENOSYS, EINVAL};
  const uid_t other = ::geteuid() == 0 ? 1 : 0;
  const auto child = [](auto act) { return ask_child([=] { return act(); }); };
  out.refused("setuid", child([=] { return call(SYS_setuid, other); }), refused);
  out.refused("setgid", child([=] { return call(SYS_setgid, other); }), refused);
  out.refused("setresuid", child([=] { return call(SYS_setresuid, other, other, other); }),
              refused);
  out.refused("setgroups", child([=] {
                const gid_t group = other;
                return call(SYS_setgroups, 1, &group);
              }),
              refused);
  out.refused(
      "capset", child([] {
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        const std::array<__user_cap_data_struct, 2> all = {{{~0U, ~0U, 0}, {0x1ff, 0x1ff, 0}}};
        return call(SYS_capset, &header, all.data());
      }),
      refused);
}

void groups(const Words&, Findings& out) {
  std::array<gid_t, 64> all{};
  const int count = ::getgroups(static_cast<int>(all.size()), all.data());
  for (int i = 0; i < count; ++i) {
    const gid_t group = all[static_cast<std::size_t>(i)];
    out.holds("group " + std::to_string(group), group == ::getegid(), "inherited");
  }
  out.holds("groups looked at", true, std::to_string(count));
  // The first process serves us: what it kept we could borrow.
  const std::string first = status_line("/proc/1", "Groups");
  out.holds("the first process has none", first.find_first_not_of(" \t") == std::string::npos,
            first);
}

void helpers_of_root(const Words&, Findings& out) {
  const std::array<std::vector<const char*>, 6> commands = {{
      {"sudo", "-n", "true"},
      {"su", "-c", "true"},
      {"pkexec", "true"},
      {"newuidmap", "1", "0", "0", "1"},
      {"systemd-run", "true"},
      {"mount", "-t", "tmpfs", "none", "."},
  }};
  for (std::vector<const char*> command : commands) {
    command.push_back(nullptr);
    const int code = in_child([&] {
      const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      if (null < 0) return 126;
      for (int fd = 0; fd < 3; ++fd) (void)::dup2(null, fd);
      (void)::execvp(command[0], const_cast<char* const*>(command.data()));
      return 127;
    });
    out.holds(command[0], code != 0, "exit " + std::to_string(code));
  }
}

// More fences of one's own are welcome; they can only tighten.
void nested_fences(const Words&, Findings& out) {
  const Answer filter = ask_child([] {
    const sock_fprog program = allow_all();
    return call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  });
  out.control("a filter of one's own", !filter.failed(), text_of(filter));
  const Answer landlock = ask_child([] {
    const landlock_ruleset_attr rights{.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE};
    const Answer rules = call(SYS_landlock_create_ruleset, &rights, sizeof rights, 0);
    if (rules.failed()) return rules;
    (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const Answer done = call(SYS_landlock_restrict_self, rules.value, 0);
    if (done.failed()) return done;
    const Answer write = try_open("denied", O_CREAT | O_WRONLY);
    return Answer{write.failed() && write.error == EACCES ? 0L : -1L, write.error};
  });
  out.control("Landlock of one's own", !landlock.failed(), text_of(landlock));
  out.refused("a user namespace", ask_child([] { return answer(::unshare(CLONE_NEWUSER)); }),
              {EPERM});
  if (::access("/usr/bin/bwrap", X_OK) == 0) {
    const int code = in_child(
        [] { return ::execl("/usr/bin/bwrap", "bwrap", "--ro-bind", "/", "/", "true", nullptr); });
    out.holds("bwrap fails cleanly", code != 0 && code < 128, "exit " + std::to_string(code));
  }
}

constexpr Row kRows[] = {
    {"C038", personalities},   {"C039", loosen},           {"C040", listener},
    {"C041", priority},        {"C042", process_controls}, {"C077", capability_sets},
    {"C078", set_id_program},  {"C079", change_ids},       {"C080", groups},
    {"C081", helpers_of_root}, {"C290", nested_fences},
};

}  // namespace

std::span<const Row> privilege_rows() { return kRows; }

}  // namespace cordon::probe
