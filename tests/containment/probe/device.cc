// SPDX-License-Identifier: Apache-2.0
// Groups D and P: device nodes, their mounts and their controls. Attributes are written back
// unchanged.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <linux/fs.h>
#include <linux/if_tun.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

void content_of_dev(const Words&, Findings& out) {
  constexpr const char* kExpected[] = {"null", "zero", "full", "random", "urandom", "tty",   "ptmx",
                                       "pts",  "shm",  "fd",   "stdin",  "stdout",  "stderr"};
  std::string more;
  const std::vector<std::string> names = names_in("/dev");
  for (const std::string& name : names) {
    const bool known = std::any_of(std::begin(kExpected), std::end(kExpected),
                                   [&](const char* expected) { return name == expected; });
    if (!known) more += name + " ";
  }
  out.holds("nothing else in /dev", more.empty(),
            more.empty() ? std::to_string(names.size()) + " names" : more);
  for (const char* const name :
       {"null", "zero", "full", "random", "urandom", "ptmx", "pts", "shm", "fd"}) {
    const std::string path = std::string{"/dev/"} + name;
    out.control(path, ::access(path.c_str(), F_OK) == 0, "absent");
  }
}

void dangerous_devices(const Words&, Findings& out) {
  for (const char* const name :
       {"mem",       "kmem",         "port",    "kmsg",  "kvm",
        "vhost-net", "vhost-vsock",  "vsock",   "fuse",  "net/tun",
        "loop0",     "loop-control", "sda",     "vda",   "nvme0",
        "nvme0n1",   "dri",          "uinput",  "input", "hpet",
        "sev",       "userfaultfd",  "console", "tty0",  "mapper/control"}) {
    const std::string path = std::string{"/dev/"} + name;
    out.refused("open " + path, try_open(path, O_RDONLY | O_NONBLOCK), {ENOENT});
  }
}

// What every mount must say of itself, whether a device or a set-id file can be made there or not.
void flags_of_mount(const Mount& mount, Findings& out) {
  const auto wants = [&](const char* option) {
    if (!mount.has(option)) out.holds(joined({mount.point, " is ", option}), false, mount.options);
  };
  const bool node = mount.point.starts_with("/dev/") && mount.point != "/dev/shm";
  wants("nosuid");
  if (!node) wants("nodev");
  if (node || mount.point.starts_with("/proc")) wants("noexec");
}

void nodes_in_mounts(const Words&, Findings& out) {
  for (const Mount& mount : mounts()) {
    flags_of_mount(mount, out);
    struct stat about{};
    if (::stat(mount.point.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) continue;
    const std::string path = mount.point + "/.node";
    const Answer made = answer(::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)));
    if (!made.failed()) (void)::unlink(path.c_str());
    out.refused("mknod in " + mount.point, made, {EPERM, EROFS, EACCES, ENOENT});
  }
}

void shared_nodes(const Words&, Findings& out) {
  struct stat about{};
  if (::stat("/dev/null", &about) != 0) return out.skip("no /dev/null");
  const timespec times[2] = {about.st_atim, about.st_mtim};
  const auto refused = {EPERM, EROFS, EACCES, EINVAL, EOVERFLOW};
  out.refused("chmod /dev/null", answer(::chmod("/dev/null", about.st_mode & 07777)), refused);
  out.refused("chown /dev/null", answer(::chown("/dev/null", about.st_uid, about.st_gid)), refused);
  out.refused("utimensat /dev/null", answer(::utimensat(AT_FDCWD, "/dev/null", times, 0)), refused);
  const Answer full = try_write("/dev/full", "x");
  out.control("/dev/full is full", full.failed() && full.error == ENOSPC, text_of(full));
}

// `--pts-device D` is the host's instance of devpts.
void terminals(const Words& words, Findings& out) {
  struct stat about{};
  const std::string host = words.get("pts-device");
  if (::stat("/dev/pts", &about) == 0) {
    out.holds("an instance of its own", std::to_string(about.st_dev) != host,
              std::to_string(about.st_dev));
  }
  const std::size_t count = names_in("/dev/pts").size();
  out.holds("no terminals of others", count <= 3, std::to_string(count) + " names");
  const Answer ptmx = try_open("/dev/ptmx", O_RDWR);
  out.control("a terminal can be made", !ptmx.failed(), text_of(ptmx));
}

bool may_administer() {
  // CAP_SYS_ADMIN is bit 21 of the effective set.
  const std::string status = read_text("/proc/self/status");
  const std::size_t at = status.find("CapEff:");
  return at == std::string::npos ||
         ((std::strtoull(status.c_str() + at + 8, nullptr, 16) >> 21U) & 1U) != 0;
}

void controls(const Words&, Findings& out) {
  const int file = ::open("controlled", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  const int here = ::open(".", O_RDONLY | O_CLOEXEC);
  const int random = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  const auto refused = {EPERM, ENOTTY};
  const auto control = [](int fd, unsigned long command) {
    return call(SYS_ioctl, fd, command, nullptr);
  };
  out.refused("FS_IOC_SETFLAGS", control(file, FS_IOC_SETFLAGS), refused);
  out.refused("FS_IOC_FSSETXATTR", control(file, FS_IOC_FSSETXATTR), refused);
  out.refused("RNDADDENTROPY", control(random, RNDADDENTROPY), refused);
  out.refused("BLKROSET", control(file, BLKROSET), refused);
  out.refused("BLKFLSBUF", control(-1, BLKFLSBUF), refused);
  out.refused("EVIOCGRAB", control(-1, 0x40044590), refused);
  out.refused("TUNSETIFF", control(-1, TUNSETIFF), refused);
  // With the right to do it, this would really freeze the file system.
  if (!may_administer()) out.refused("FIFREEZE", control(here, FIFREEZE), refused);
  for (const int fd : {file, here, random}) ::close(fd);
  (void)::unlink("controlled");
}

// `--bytes B`: what /dev/shm may hold at most.
void shared_memory(const Words& words, Findings& out) {
  const auto cap = static_cast<unsigned long>(words.number("bytes", 256L << 20U));
  struct statvfs about{};
  if (::statvfs("/dev/shm", &about) != 0)
    return out.refused("statvfs /dev/shm", answer(-1), {ENOENT});
  const unsigned long size = about.f_blocks * about.f_frsize;
  out.holds("its size is bounded", size > 0 && size <= cap, std::to_string(size));
  const std::vector<Mount> all = mounts();
  const Mount* const mount = mount_of(all, "/dev/shm");
  const bool own =
      mount != nullptr && mount->type == "tmpfs" && mount->has("nosuid") && mount->has("nodev");
  out.holds("a tmpfs, nosuid, nodev", own,
            mount != nullptr ? mount->type + " " + mount->options : "?");
  const int fd = ::open("/dev/shm/.fill", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) {
    out.refused("more than it may hold",
                answer(::fallocate(fd, 0, 0, static_cast<off_t>(cap) + 4096)),
                {ENOSPC, EFBIG, ENOMEM});
    ::close(fd);
    (void)::unlink("/dev/shm/.fill");
  }
  const std::string theirs = words.get("name");
  if (!theirs.empty())
    out.refused("a name of the host", try_open("/dev/shm/" + theirs, O_RDONLY), {ENOENT});
}

void page_merging(const Words&, Findings& out) {
  constexpr int kSetMemoryMerge = 67;
  void* const page =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  out.refused("MADV_MERGEABLE", answer(::madvise(page, 4096, MADV_MERGEABLE)), {EINVAL, EPERM});
  out.refused("PR_SET_MEMORY_MERGE", answer(::prctl(kSetMemoryMerge, 1, 0, 0, 0)), {EINVAL, EPERM});
  (void)::munmap(page, 4096);
}

void counters(const Words&, Findings& out) {
  out.refused("perf_event_open", call(SYS_perf_event_open, nullptr, 0, -1, -1, 0), {EPERM});
  for (const char* const path : {"/sys/class/powercap", "/sys/class/thermal/thermal_zone0/temp",
                                 "/sys/devices/system/cpu/cpu0/cpufreq", "/dev/cpu/0/msr"}) {
    out.refused(std::string{"open "} + path, try_open(path, O_RDONLY), {ENOENT, EACCES});
  }
#if defined(__x86_64__)
  const int code = in_child([] {
    (void)std::signal(SIGSEGV, SIG_DFL);
    unsigned low = 0;
    unsigned high = 0;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(0));
    return 0;
  });
  out.holds("rdpmc", code == 128 + SIGSEGV, "exit " + std::to_string(code));
#endif
}

constexpr Row kRows[] = {
    {"C055", content_of_dev}, {"C056", dangerous_devices}, {"C057", nodes_in_mounts},
    {"C058", shared_nodes},   {"C059", terminals},         {"C060", controls},
    {"C061", shared_memory},  {"C231", page_merging},      {"C232", counters},
};

}  // namespace

std::span<const Row> device_rows() { return kRows; }

}  // namespace cordon::probe
