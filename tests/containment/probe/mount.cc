// SPDX-License-Identifier: Apache-2.0
// Group E: mounts and namespaces.
#include <array>
#include <cerrno>
#include <csignal>
#include <sched.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

constexpr unsigned long kNewTime = 0x80;
constexpr unsigned long kJunk = 1UL << 40U;
constexpr long kOpenTreeAttr = 467;
constexpr long kListNs = 470;
constexpr long kStatMount = 457;
constexpr long kListMount = 458;

struct Flag {
  const char* name;
  unsigned long bit;
};
constexpr Flag kNamespaces[] = {{"NEWNS", CLONE_NEWNS},     {"NEWCGROUP", CLONE_NEWCGROUP},
                                {"NEWUTS", CLONE_NEWUTS},   {"NEWIPC", CLONE_NEWIPC},
                                {"NEWUSER", CLONE_NEWUSER}, {"NEWPID", CLONE_NEWPID},
                                {"NEWNET", CLONE_NEWNET},   {"NEWTIME", kNewTime}};

Answer clone_with(unsigned long flags) {
  return ask_child([=] {
    const Answer got = call(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (got.value == 0) ::_exit(0);
    if (got.value > 0) (void)::waitpid(static_cast<pid_t>(got.value), nullptr, 0);
    return got;
  });
}

void new_namespaces(const Words&, Findings& out) {
  for (const Flag& flag : kNamespaces) {
    const std::string name = flag.name;
    for (const unsigned long junk : {0UL, kJunk}) {
      const std::string how = junk != 0 ? name + " with junk above" : name;
      out.refused("unshare " + how, ask_child([&] { return call(SYS_unshare, flag.bit | junk); }),
                  {EPERM});
      // The low byte of clone's flags is a signal, so NEWTIME cannot be asked for there.
      if (flag.bit != kNewTime) out.refused("clone " + how, clone_with(flag.bit | junk), {EPERM});
    }
  }
  // Without the filter the kernel's limit answers; and of a number that it does not know, itself.
  for (const Flag& flag : kNamespaces) {
    const std::string name = flag.name;
    out.attempt("unshare " + name, ask_child([&] { return call(SYS_unshare, flag.bit); }),
                {EPERM, ENOSPC});
    out.attempt("unshare with junk " + name,
                ask_child([&] { return call(SYS_unshare, flag.bit | kJunk); }),
                {EPERM, ENOSPC, EINVAL});
    if (flag.bit == kNewTime) continue;
    for (const unsigned long junk : {0UL, kJunk}) {
      out.attempt("clone " + name, clone_with(flag.bit | junk), {EPERM, ENOSPC});
    }
  }
  const Answer files = ask_child([] { return call(SYS_unshare, CLONE_FILES); });
  out.control("unshare FILES", !files.failed(), text_of(files));
}

void clone3(const Words&, Findings& out) {
  out.refused("clone3", call(SYS_clone3, nullptr, 0), {ENOSYS});
  // A plain one makes a process and no more, as clone does.
  for (const Flag& flag : kNamespaces) {
    out.attempt(std::string{"clone3 "} + flag.name, ask_child([&] {
                  std::array<unsigned long, 11> arguments{};
                  arguments[0] = flag.bit;
                  arguments[4] = SIGCHLD;
                  const Answer got = call(SYS_clone3, arguments.data(), sizeof arguments);
                  if (got.value == 0) ::_exit(0);
                  if (got.value > 0) (void)::waitpid(static_cast<pid_t>(got.value), nullptr, 0);
                  return got;
                }),
                {ENOSYS, EPERM, ENOSPC});
  }
  bool ran = false;
  std::thread{[&] { ran = true; }}.join();
  out.control("threads", ran, "did not run");
  out.control("fork", in_child([] { return 7; }) == 7, "did not run");
}

void join_namespaces(const Words&, Findings& out) {
  constexpr unsigned long kGetUserNs = 0xb701;
  constexpr unsigned long kGetParent = 0xb702;
  out.refused("setns", call(SYS_setns, -1, 0), {EPERM});
  out.refused("listns", call(kListNs, nullptr, nullptr, 0, 0), {EPERM, ENOSYS});
  const int ns = ::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
  const int pid_ns = ::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  out.refused("NS_GET_USERNS", answer(::ioctl(pid_ns, kGetUserNs)), {EPERM, ENOTTY});
  out.refused("NS_GET_PARENT", answer(::ioctl(ns, kGetParent)), {EPERM, ENOTTY});
  for (const int fd : {ns, pid_ns}) ::close(fd);
  for (const char* const name : {"mnt", "net", "pid", "ipc", "uts", "cgroup"}) {
    const std::string path = std::string{"/proc/self/ns/"} + name;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    out.attempt("join " + path, ask_child([&] { return call(SYS_setns, fd, 0); }), {EPERM});
    if (fd >= 0) ::close(fd);
  }
  for (const char* const name : {"mnt", "net", "pid", "user"}) {
    const std::string path = std::string{"/proc/1/ns/"} + name;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    out.refused("join " + path, ask_child([&] { return call(SYS_setns, fd, 0); }), {EPERM});
    ::close(fd);
  }
}

// NULL: the kernel alone would say EFAULT. What it refuses itself with EPERM is proved on the
// filter.
void old_mount_calls(const Words&, Findings& out) {
  out.refused("mount", call(SYS_mount, nullptr, nullptr, nullptr, 0, nullptr), {EPERM});
  out.refused("umount2", call(SYS_umount2, nullptr, 0), {EPERM});
  out.refused("pivot_root", call(SYS_pivot_root, nullptr, nullptr), {EPERM});
  out.refused("chroot", call(SYS_chroot, nullptr), {EPERM});
  const auto in_private = [](auto act) { return ask_child([=] { return act(); }); };
  out.attempt("mount a tmpfs",
              in_private([] { return call(SYS_mount, "none", "/tmp", "tmpfs", 0, nullptr); }),
              {EPERM});
  out.attempt("bind",
              in_private([] { return call(SYS_mount, "/etc", "/tmp", nullptr, MS_BIND, nullptr); }),
              {EPERM});
  out.attempt("make / writable", in_private([] {
                return call(SYS_mount, "none", "/", nullptr, MS_REMOUNT | MS_BIND, nullptr);
              }),
              {EPERM});
  out.attempt("unmount", in_private([] { return call(SYS_umount2, "/tmp", MNT_DETACH); }), {EPERM});
  out.attempt("change the root", in_private([] { return call(SYS_pivot_root, "/tmp", "/tmp"); }),
              {EPERM});
  out.attempt("chroot", in_private([] { return call(SYS_chroot, "/tmp"); }), {EPERM});
}

void new_mount_calls(const Words&, Findings& out) {
  out.refused("open_tree", call(SYS_open_tree, AT_FDCWD, "/", 0), {EPERM});
  out.refused("fsopen", call(SYS_fsopen, nullptr, 0), {EPERM});
  out.refused("fsconfig", call(SYS_fsconfig, -1, 0, nullptr, nullptr, 0), {EPERM});
  out.refused("fsmount", call(SYS_fsmount, -1, 0, 0), {EPERM});
  out.refused("fspick", call(SYS_fspick, -1, nullptr, 0), {EPERM});
  out.refused("move_mount", call(SYS_move_mount, -1, nullptr, -1, nullptr, 0), {EPERM});
  out.refused("mount_setattr", call(SYS_mount_setattr, -1, nullptr, 0, nullptr, 0), {EPERM});
  out.refused("open_tree_attr", call(kOpenTreeAttr, -1, nullptr, 0, nullptr, 0), {EPERM, ENOSYS});
  // One that makes no copy only opens a path.
  constexpr long kCopy = 1;
  const std::array<unsigned long, 4> no_suid = {2, 0, 0, 0};
  out.attempt("copy a mount", call(SYS_open_tree, AT_FDCWD, "/", kCopy), {EPERM});
  out.attempt("make a tmpfs", call(SYS_fsopen, "tmpfs", 0), {EPERM});
  out.attempt("pick a mount", call(SYS_fspick, AT_FDCWD, "/", 0), {EPERM});
  out.attempt("move a mount", call(SYS_move_mount, AT_FDCWD, "/tmp", AT_FDCWD, "/tmp", 0), {EPERM});
  out.attempt("set flags of a mount",
              call(SYS_mount_setattr, AT_FDCWD, "/tmp", 0, no_suid.data(), sizeof no_suid),
              {EPERM});
}

// Where a nested user namespace would lead: the number of the step that failed, 0 where none did.
int nested_chain() {
  const int before = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (before < 0) return 8;
  const std::string user = "0 " + std::to_string(::getuid()) + " 1";
  const std::string group = "0 " + std::to_string(::getgid()) + " 1";
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 1;
  (void)try_write("/proc/self/setgroups", "deny");
  (void)try_write("/proc/self/uid_map", user);
  (void)try_write("/proc/self/gid_map", group);
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 2;
  if (::mount("none", "/tmp", "tmpfs", 0, nullptr) != 0) return 3;
  if (::mkdir("/tmp/old", 0700) != 0 || ::chdir("/tmp") != 0) return 4;
  if (call(SYS_pivot_root, ".", "old").failed()) return 5;
  if (::umount2("/old", MNT_DETACH) != 0) return 6;
  return ::faccessat(before, "usr", F_OK, 0) == 0 ? 0 : 7;
}

void nested_namespaces(const Words&, Findings& out) {
  const int step = in_child(nested_chain);
  out.holds("the chain ends at its first step", step == 1, "ended at step " + std::to_string(step));
}

void namespace_limits(const Words&, Findings& out) {
  for (const char* const name : {"user", "mnt", "net", "pid", "ipc", "uts", "cgroup", "time"}) {
    const std::string path = std::string{"/proc/sys/user/max_"} + name + "_namespaces";
    std::string value = read_text(path);
    value = value.substr(0, value.find('\n'));
    // Time namespaces are younger than the others.
    if (value.empty() && std::string_view{name} == "time") continue;
    out.holds(path, value == "0", value.empty() ? "absent" : value);
    out.refused("open " + path, try_open(path, O_WRONLY), {EROFS, EACCES, EPERM, ENOENT});
  }
}

void propagation(const Words&, Findings& out) {
  const std::vector<Mount> all = mounts();
  out.control("mountinfo can be read", !all.empty(), "it is empty");
  for (const Mount& mount : all) {
    if (!mount.tags.empty()) out.holds(mount.point + " is private", false, mount.tags);
  }
  out.holds("mounts looked at", true, std::to_string(all.size()));
}

void other_file_systems(const Words&, Findings& out) {
  (void)::mkdir("point", 0700);
  for (const char* const type :
       {"binfmt_misc", "fuse", "overlay", "tmpfs", "proc", "sysfs", "cgroup2"}) {
    const Answer got = answer(::mount("none", "point", type, 0, nullptr));
    out.refused(std::string{"mount "} + type, got, {EPERM});
    if (!got.failed()) (void)::umount2("point", MNT_DETACH);
  }
  (void)::rmdir("point");
}

// Only opened, never written.
void control_groups(const Words&, Findings& out) {
  const auto refused = {ENOENT, EROFS, EACCES, EPERM};
  for (const char* const path :
       {"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs",
        "/sys/fs/cgroup/memory/cgroup.procs", "/sys/fs/cgroup/memory/release_agent",
        "/sys/fs/cgroup/memory/notify_on_release", "/sys/fs/cgroup/pids/tasks",
        "/sys/fs/cgroup/systemd/release_agent"}) {
    out.refused(std::string{"open "} + path, try_open(path, O_WRONLY), refused);
  }
  (void)::mkdir("groups", 0700);
  for (const auto& [type, data] :
       {std::pair{"cgroup2", ""}, std::pair{"cgroup", "memory"}, std::pair{"cgroup", "rdma"}}) {
    const Answer got = answer(::mount("none", "groups", type, 0, data));
    out.refused(std::string{"mount "} + type, got, {EPERM});
    if (!got.failed()) (void)::umount2("groups", MNT_DETACH);
  }
  (void)::rmdir("groups");
}

// `--key K` is a segment of shared memory on the host, `--namespaces a,b` its namespaces, and
// `--host-name` its name, backwards.
void shared_namespaces(const Words& words, Findings& out) {
  std::array<char, 256> name_here{};
  (void)!::gethostname(name_here.data(), name_here.size() - 1);
  const bool own_name = words.mirrored("host-name") != name_here.data();
  out.holds("a host name of its own", own_name, own_name ? name_here.data() : "the host's");
  if (words.has("key")) {
    out.refused("shmget", answer(::shmget(static_cast<key_t>(words.number("key", 0)), 0, 0)),
                {ENOENT, ENOSYS});
  }
  for (const std::string& of_host : words.list("namespaces")) {
    const std::string name = of_host.substr(0, of_host.find(':'));
    std::array<char, 64> link{};
    (void)!::readlink(("/proc/self/ns/" + name).c_str(), link.data(), link.size() - 1);
    out.holds("a " + name + " namespace of its own", of_host != link.data(), link.data());
  }
  out.refused("sethostname", call(SYS_sethostname, nullptr, -1), {EPERM});
}

void foreign_mounts(const Words&, Findings& out) {
  out.refused("statmount", call(kStatMount, nullptr, nullptr, 0, 0), {EPERM, ENOSYS});
  out.refused("listmount", call(kListMount, nullptr, nullptr, 0, 0), {EPERM, ENOSYS});
}

constexpr Row kRows[] = {
    {"C063", new_namespaces},     {"C064", clone3},
    {"C065", join_namespaces},    {"C066", old_mount_calls},
    {"C067", new_mount_calls},    {"C068", nested_namespaces},
    {"C069", namespace_limits},   {"C071", propagation},
    {"C072", other_file_systems}, {"C073", control_groups},
    {"C074", shared_namespaces},  {"C075", foreign_mounts},
};

}  // namespace

std::span<const Row> mount_rows() { return kRows; }

}  // namespace cordon::probe
