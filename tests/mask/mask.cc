// SPDX-License-Identifier: Apache-2.0
// mask: runs a command on a kernel that seems to lack something. `mask [--no-userns] … -- CMD`
//
// For tests of what Cordon does on hosts that we do not have: the program under test is the real
// one, and so is every answer of the kernel but those that are masked.
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <grp.h>
#include <iostream>
#include <map>
#include <sched.h>
#include <sstream>
#include <string_view>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

#include "tracer.h"

namespace cordon::mask {
namespace {

[[noreturn]] void die(std::string_view what) {
  std::cerr << "mask: " << what << ": " << std::error_code{errno, std::system_category()}.message()
            << '\n';
  std::_Exit(125);
}

template <class Number>
Number number_of(const char* text) {
  Number number{};
  const char* const end = text + std::strlen(text);
  if (text == end || std::from_chars(text, end, number).ptr != end) {
    errno = EINVAL;
    die(text);
  }
  return number;
}

Masks parse(int argc, char** argv) {
  Masks masks;
  const std::map<std::string_view, bool*> switches = {
      {"--no-userns", &masks.no_userns},
      {"--no-netns", &masks.no_netns},
      {"--no-landlock", &masks.no_landlock},
      {"--no-seccomp", &masks.no_seccomp},
      {"--no-seccomp-notify", &masks.no_seccomp_notify},
      {"--no-overlay", &masks.no_overlay},
      {"--no-mount-api", &masks.no_mount_api},
      {"--no-idmap", &masks.no_idmap},
      {"--no-pidfd", &masks.no_pidfd},
      {"--no-openat2", &masks.no_openat2},
      {"--hang-openat2", &masks.hang_openat2},
      {"--no-nftables", &masks.no_nftables},
      {"--no-cgroup-write", &masks.no_cgroup_write},
      {"--cgroup-v2-only", &masks.cgroup_v2_only},
      {"--userns-limit-0", &masks.userns_limit_0},
  };
  const std::map<std::string_view, std::function<void(const char*)>> values = {
      {"--landlock-abi", [&](const char* v) { masks.landlock_abi = number_of<int>(v); }},
      {"--fds", [&](const char* v) { masks.fds = number_of<std::uint64_t>(v); }},
      {"--sub-ids", [&](const char* v) { masks.sub_ids = v; }},
      {"--user", [&](const char* v) { masks.user = number_of<uid_t>(v); }},
  };
  int i = 1;
  for (; i < argc && std::string_view{argv[i]} != "--"; ++i) {
    const std::string_view flag = argv[i];
    if (const auto found = switches.find(flag); found != switches.end()) {
      *found->second = true;
    } else if (const auto valued = values.find(flag); valued != values.end() && i + 1 < argc) {
      valued->second(argv[++i]);
    } else {
      errno = EINVAL;
      die(flag);
    }
  }
  if (i < argc) masks.command.assign(argv + i + 1, argv + argc);
  if (masks.command.empty() || masks.landlock_abi < 0 || masks.landlock_abi > 7) {
    std::cerr << "usage: mask [MASK...] -- COMMAND...\n";
    std::_Exit(125);
  }
  return masks;
}

void enter_own_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) die("unshare");
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) die("mount /");
}

// A host whose only hierarchy is that of version 2.
void show_only_cgroup_v2() {
  enter_own_mount_namespace();
  if (::umount2("/sys/fs/cgroup", MNT_DETACH) != 0) die("umount /sys/fs/cgroup");
  if (::mount("none", "/sys/fs/cgroup", "cgroup2", 0, nullptr) != 0) die("mount cgroup2");
}

// Every cgroup mount becomes read-only, in a mount namespace of our own.
void forbid_cgroup_writes() {
  enter_own_mount_namespace();
  std::ifstream mounts{"/proc/self/mounts"};
  std::vector<std::string> paths;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words{line};
    std::string source;
    std::string path;
    std::string type;
    words >> source >> path >> type;
    if (type == "cgroup" || type == "cgroup2") paths.push_back(path);
  }
  for (const std::string& path : paths) {
    if (::mount("none", path.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0) {
      die(path);
    }
  }
}

void write_text(const char* path, const std::string& text) {
  std::ofstream out{path};
  if (!(out << text << std::flush)) die(path);
}

void show_sub_ids(const std::string& line) {
  enter_own_mount_namespace();
  if (::mount("none", "/mnt", "tmpfs", 0, nullptr) != 0) die("mount /mnt");
  write_text("/mnt/ids", line + "\n");
  for (const char* const path : {"/etc/subuid", "/etc/subgid"}) {
    if (::mount("/mnt/ids", path, nullptr, MS_BIND, nullptr) != 0) die(path);
  }
}

// A user namespace of our own in which no further one may be made.
void forbid_user_namespaces_by_limit() {
  const std::string uid = std::to_string(::getuid());
  const std::string gid = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER) != 0) die("unshare");
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", "0 " + uid + " 1");
  write_text("/proc/self/gid_map", "0 " + gid + " 1");
  write_text("/proc/sys/user/max_user_namespaces", "0");
}

void drop_to(uid_t user) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 ||
      ::setresuid(user, user, user) != 0) {
    die("drop to user");
  }
  // A change of ids makes /proc/self root's, and the command is to find its own there.
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) die("PR_SET_DUMPABLE");
}

[[noreturn]] void run_masked(const Masks& masks) {
  if (masks.fds) {
    const rlimit limit{*masks.fds, *masks.fds};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) die("RLIMIT_NOFILE");
  }
  if (masks.cgroup_v2_only) show_only_cgroup_v2();
  if (masks.no_cgroup_write) forbid_cgroup_writes();
  if (!masks.sub_ids.empty()) show_sub_ids(masks.sub_ids);
  // Privileged where we are: without no_new_privs a set-id program keeps its rights.
  if (!load_filter(masks)) die("filter");
  if (masks.user) drop_to(*masks.user);
  if (masks.userns_limit_0) forbid_user_namespaces_by_limit();
  std::vector<char*> argv;
  argv.reserve(masks.command.size() + 1);
  for (const std::string& word : masks.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  die(masks.command[0]);
}

int run(const Masks& masks) {
  int go[2];
  if (::pipe2(go, O_CLOEXEC) != 0) die("pipe2");
  const pid_t child = ::fork();
  if (child < 0) die("fork");
  if (child == 0) {
    ::close(go[1]);
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) std::_Exit(125);
    run_masked(masks);
  }
  ::close(go[0]);
  if (!seize(child)) die("ptrace");
  if (::write(go[1], "g", 1) != 1) die("write");
  ::close(go[1]);
  return serve(masks, child);
}

}  // namespace
}  // namespace cordon::mask

int main(int argc, char** argv) { return cordon::mask::run(cordon::mask::parse(argc, argv)); }
