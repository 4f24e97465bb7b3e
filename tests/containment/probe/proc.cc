// SPDX-License-Identifier: Apache-2.0
// Groups C and P: /proc and /sys. Files of the kernel are only opened, never written, except our
// own.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <dirent.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files.h"

namespace cordon::probe {
namespace {

// A name masked by the null device gives nothing away, whatever open says.
bool is_null_device(const std::string& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISCHR(about.st_mode) &&
         about.st_rdev == makedev(1, 3);
}

void not_writable(Findings& out, const std::string& path) {
  if (is_null_device(path)) return out.holds("open " + path, true, "masked");
  out.refused("open " + path, try_open(path, O_WRONLY), {EROFS, EACCES, EPERM, ENOENT, ENOTDIR});
}

void sysctls(const Words&, Findings& out) {
  for (const char* const path :
       {"/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory",
        "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/net/ipv4/ip_forward",
        "/proc/sys/fs/binfmt_misc/register", "/proc/sys/kernel/ns_last_pid"}) {
    not_writable(out, path);
  }
}

void triggers(const Words&, Findings& out) {
  for (const char* const path :
       {"/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/mtrr", "/proc/acpi/wakeup",
        "/proc/scsi/scsi", "/proc/fs/nfsd/threads"}) {
    not_writable(out, path);
  }
  for (const char* const top : {"/proc/bus", "/proc/fs", "/proc/irq"}) {
    std::string found;
    walk(top, [&](const std::string& path, unsigned char type) {
      if (type == DT_REG && ::access(path.c_str(), W_OK) == 0 && !is_null_device(path))
        found = path;
      return found.empty();
    });
    out.holds(std::string{"nothing writable in "} + top, found.empty(), found);
  }
}

// The mark stands in the command line of a process of the host; in ours it is given backwards.
void foreign_processes(const Words& words, Findings& out) {
  const std::string mark = words.mirrored("process");
  const std::vector<std::string> all = pids();
  out.control("our own process is shown", !all.empty(), "/proc shows none");
  std::string found;
  for (const std::string& pid : all) {
    if (read_text("/proc/" + pid + "/cmdline").find(mark) != std::string::npos) found = pid;
  }
  out.holds("no process of the host", found.empty(),
            found.empty() ? std::to_string(all.size()) + " pids" : found);
}

// Something of our own lies over it, and says nothing: it is on another file system than /proc.
void is_covered(const std::string& path, Findings& out) {
  struct stat top{};
  struct stat about{};
  if (::stat("/proc", &top) != 0 || ::lstat(path.c_str(), &about) != 0)
    return;  // this kernel has none
  out.holds(path + " is covered", about.st_dev != top.st_dev,
            about.st_dev != top.st_dev ? "by a file of our own" : "it is the kernel's own");
  const bool silent = S_ISDIR(about.st_mode) ? names_in(path).empty() : read_text(path, 64).empty();
  out.holds(path + " says nothing", silent, silent ? "empty" : "its content");
}

void kernel_files(const Words&, Findings& out) {
  for (const char* const name :
       {"kcore",         "kallsyms",      "kmsg",        "keys",       "key-users",
        "timer_list",    "sched_debug",   "kpagecount",  "kpageflags", "kpagecgroup",
        "latency_stats", "sysrq-trigger", "timer_stats", "slabinfo",   "vmallocinfo",
        "pagetypeinfo",  "iomem",         "ioports",     "config.gz",  "interrupts",
        "cmdline",       "acpi",          "asound",      "scsi",       "driver"}) {
    is_covered(std::string{"/proc/"} + name, out);
  }
  // Shown, and not to be written: each is a mount of its own.
  const std::vector<Mount> all = mounts();
  for (const char* const name : {"sys", "bus", "fs", "irq", "pressure"}) {
    const std::string path = std::string{"/proc/"} + name;
    if (::access(path.c_str(), F_OK) != 0) continue;
    const bool own = std::any_of(all.begin(), all.end(), [&](const Mount& mount) {
      return mount.point == path && !mount.writable();
    });
    out.holds(path + " is read-only", own, own ? "ro" : "no mount of its own");
  }
}

void page_frames(const Words&, Findings& out) {
  constexpr std::uint64_t kFrame = (1ULL << 55U) - 1;
  std::uint64_t entry = 0;
  const int fd = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return out.refused("open pagemap", answer(-1), {EACCES, ENOENT, EPERM});
  const auto page = reinterpret_cast<std::uintptr_t>(&entry) / 4096;
  (void)!::pread(fd, &entry, sizeof entry, static_cast<off_t>(page * sizeof entry));
  ::close(fd);
  out.holds("page frame number", (entry & kFrame) == 0, (entry & kFrame) == 0 ? "0" : "shown");
}

void host_strings(const Words& words, Findings& out) {
  std::istringstream lines{read_text("/proc/self/cgroup")};
  for (std::string line; std::getline(lines, line);) {
    out.holds("cgroup", line.ends_with(":/"), line);
  }
  const std::string all =
      read_text("/proc/self/mountinfo", 1 << 20) + read_text("/proc/self/maps", 1 << 20);
  for (const std::string& word : words.list("words")) {
    out.holds("no " + word, all.find(word) == std::string::npos, "in mountinfo or maps");
  }
  out.holds("no layers by name", all.find("upperdir=") == std::string::npos,
            "upperdir= in mountinfo");
}

void unmask(const Words&, Findings& out) {
  std::size_t masks = 0;
  for (const Mount& mount : mounts()) {
    if (!mount.point.starts_with("/proc")) continue;
    ++masks;
    out.refused("umount " + mount.point,
                ask_child([&] { return answer(::umount2(mount.point.c_str(), MNT_DETACH)); }),
                {EPERM});
    out.refused("remount " + mount.point, ask_child([&] {
                  return answer(::mount(nullptr, mount.point.c_str(), nullptr, MS_REMOUNT | MS_BIND,
                                        nullptr));
                }),
                {EPERM});
  }
  out.control("there are mounts on /proc", masks > 0, "none");
  (void)::mkdir("second-proc", 0700);
  const Answer second = answer(::mount("proc", "second-proc", "proc", 0, nullptr));
  out.refused("a second procfs", second, {EPERM});
  if (!second.failed()) (void)::umount2("second-proc", MNT_DETACH);
  (void)::rmdir("second-proc");
}

void own_entries(const Words&, Findings& out) {
  const auto refused = {EACCES, EPERM, EROFS, ENOENT, EINVAL, EOPNOTSUPP};
  for (const auto& [name, text] :
       {std::pair{"oom_score_adj", "-900"}, std::pair{"uid_map", "0 0 1"},
        std::pair{"gid_map", "0 0 1"}, std::pair{"setgroups", "allow"},
        std::pair{"attr/current", "unconfined"}, std::pair{"timens_offsets", "monotonic 1 0"},
        std::pair{"loginuid", "0"}}) {
    const std::string path = std::string{"/proc/self/"} + name;
    out.refused("write " + path, ask_child([&] { return try_write(path, text); }), refused);
  }
}

void sysfs(const Words&, Findings& out) {
  for (const char* const path :
       {"/sys/kernel/uevent_helper", "/sys/power/state", "/sys/kernel/debug", "/sys/firmware/efi",
        "/sys/fs/bpf", "/sys/module"}) {
    if (names_in(path).empty()) not_writable(out, path);
  }
  std::string found;
  // walk leaves /sys out only below "/".
  for (const char* const top :
       {"/sys/kernel", "/sys/power", "/sys/module", "/sys/fs", "/sys/class", "/sys/block"}) {
    walk(top, [&](const std::string& path, unsigned char type) {
      if (type == DT_REG && ::access(path.c_str(), W_OK) == 0) found = path;
      return found.empty();
    });
  }
  out.holds("nothing of /sys is writable", found.empty(), found.empty() ? "0 files" : found);
}

// `--port P` listens on the host.
void host_sockets(const Words& words, Findings& out) {
  const long port = words.number("port", 0);
  std::array<char, 16> hex{};
  (void)std::snprintf(hex.data(), hex.size(), ":%04lX ", port);
  for (const char* const path :
       {"/proc/net/tcp", "/proc/self/net/tcp", "/proc/net/tcp6", "/proc/1/net/tcp"}) {
    const bool shown = read_text(path, 4 << 20).find(hex.data()) != std::string::npos;
    out.holds(std::string{path} + " without the host's port", !shown, shown ? "shown" : "absent");
  }
  std::istringstream routes{read_text("/proc/net/arp")};
  std::string line;
  std::getline(routes, line);
  out.holds("no neighbours", !std::getline(routes, line), line);
}

// What a process sandbox is known to show of its host. It may shrink; where it grows, the row
// fails.
constexpr const char* kKnownLeaks[] = {
    "buddyinfo",   "bus",      "cgroups",     "cmdline",    "consoles",   "cpuinfo",
    "crypto",      "devices",  "diskstats",   "dma",        "driver",     "dynamic_debug",
    "execdomains", "fb",       "filesystems", "fs",         "interrupts", "iomem",
    "ioports",     "irq",      "loadavg",     "locks",      "meminfo",    "misc",
    "mounts",      "mtrr",     "net",         "partitions", "pressure",   "schedstat",
    "self",        "softirqs", "stat",        "swaps",      "sys",        "sysvipc",
    "thread-self", "tty",      "uptime",      "version",    "vmstat",     "zoneinfo",
    "kallsyms",    "modules",  "bootconfig",  "mdstat",     "allocinfo"};

bool says_something(const std::string& path) {
  if (!names_in(path).empty()) return true;
  return !is_null_device(path) && !read_text(path, 16).empty();
}

void fingerprint(const Words&, Findings& out) {
  std::string grown;
  std::size_t shown = 0;
  for (const std::string& name : names_in("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(name[0])) != 0 || !says_something("/proc/" + name))
      continue;
    ++shown;
    const bool known = std::any_of(std::begin(kKnownLeaks), std::end(kKnownLeaks),
                                   [&](const char* leak) { return name == leak; });
    if (!known) grown += name + " ";
  }
  out.holds("known leaks only", grown.empty(),
            grown.empty() ? std::to_string(shown) + " names" : grown);
  for (const char* const path : {"/sys/class/dmi/id/product_uuid", "/sys/devices/virtual/dmi"}) {
    out.refused(path, try_open(path, O_RDONLY), {ENOENT, EACCES});
  }
}

// The host's totals: exactly the documented ones.
void statistics(const Words&, Findings& out) {
  for (const char* const path : {"/proc/pressure/irq", "/sys/kernel/slab", "/proc/slabinfo",
                                 "/proc/sched_debug", "/sys/fs/cgroup", "/proc/latency_stats"}) {
    const bool shown = says_something(path);
    out.holds(std::string{path} + " says nothing",
              !shown || std::string_view{path} == "/proc/pressure/irq", shown ? "shown" : "absent");
  }
}

constexpr Row kRows[] = {
    {"C043", sysctls},      {"C044", triggers},    {"C045", foreign_processes},
    {"C046", kernel_files}, {"C047", page_frames}, {"C048", host_strings},
    {"C050", unmask},       {"C051", own_entries}, {"C052", sysfs},
    {"C053", host_sockets}, {"C054", fingerprint}, {"C239", statistics},
};

}  // namespace

std::span<const Row> proc_rows() { return kRows; }

}  // namespace cordon::probe
