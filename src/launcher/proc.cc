// SPDX-License-Identifier: Apache-2.0
#include "launcher/proc.h"

#include <fcntl.h>
#include <string>

#include "launcher/mount_point.h"
#include "os/file.h"
#include "os/mount.h"
#include "os/openat2.h"

namespace cordon::launcher {
namespace {

// Rows C043 to C046. What this kernel does not have is passed over.
constexpr const char* kBlankFiles[] = {
    "kcore",       "kallsyms",   "kmsg",        "keys",         "key-users",     "timer_list",
    "sched_debug", "kpagecount", "kpageflags",  "kpagecgroup",  "latency_stats", "sysrq-trigger",
    "timer_stats", "slabinfo",   "vmallocinfo", "pagetypeinfo", "iomem",         "ioports",
    "config.gz",   "interrupts", "cmdline"};
constexpr const char* kEmptyDirectories[] = {"acpi", "asound", "scsi", "driver"};
constexpr const char* kReadOnly[] = {"sys", "bus", "fs", "irq", "pressure"};

constexpr const char* kNamespaceLimits[] = {"user", "mnt", "pid",    "net",
                                            "ipc",  "uts", "cgroup", "time"};

constexpr os::MountAttributes kNoWrite{
    .read_only = true, .nosuid = true, .nodev = true, .noexec = true};

// `with` over `name`, where there is such an entry.
Status lay_over(const os::Fd& proc, const char* name, const os::Fd& disk, const char* with) {
  auto onto = os::openat(proc, name, O_PATH | O_NOFOLLOW);
  if (!onto && onto.error().code() == Errc::not_found) return {};
  if (!onto) return std::move(onto).error().with(name);
  TRY(const os::Fd tree, os::open_tree(disk, with, os::Reach::one));
  TRY_DO(os::mount_setattr(tree, kNoWrite, os::Reach::one));
  return os::move_mount(tree, *onto);
}

}  // namespace

Result<os::Fd> mount_proc(const os::Fd& root, const os::Fd& disk) {
  TRY(const os::Fd context, os::fsopen("proc"));
  TRY_DO(os::fsconfig_create(context));
  TRY(const os::Fd mount, os::fsmount(context, {.nosuid = true, .nodev = true, .noexec = true}));
  TRY(const os::Fd onto, make_directory_in(root, "/proc"));
  TRY_DO(os::move_mount(mount, onto));
  TRY(const os::Fd proc, os::openat(root, "proc", O_PATH | O_DIRECTORY));
  // From below what is laid over `sys`: its files are still writable through this.
  TRY(os::Fd limits, os::openat(proc, "sys/user", O_PATH | O_DIRECTORY));
  for (const char* name : kBlankFiles) TRY_DO(lay_over(proc, name, disk, "blank"));
  for (const char* name : kEmptyDirectories) TRY_DO(lay_over(proc, name, disk, "empty"));
  for (const char* name : kReadOnly) TRY_DO(lay_over(proc, name, proc, name));
  return limits;
}

Status forbid_namespaces(const os::Fd& limits) {
  for (const char* kind : kNamespaceLimits) {
    const std::string file = std::string{"max_"} + kind + "_namespaces";
    const Status written = os::write_file(limits, file.c_str(), "0");
    // Time namespaces are younger than the others.
    if (!written && written.error().code() != Errc::not_found) return written;
  }
  return {};
}

}  // namespace cordon::launcher
