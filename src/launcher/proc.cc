// SPDX-License-Identifier: Apache-2.0
#include "launcher/proc.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>

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
constexpr const char* kReadOnlyDirectories[] = {"sys", "bus", "fs", "irq", "pressure"};

constexpr const char* kNamespaceLimits[] = {"user", "mnt", "pid",    "net",
                                            "ipc",  "uts", "cgroup", "time"};

constexpr os::MountAttributes kNoWrite{
    .read_only = true, .nosuid = true, .nodev = true, .noexec = true};

Result<bool> is_there(const os::Fd& dir, const char* name) {
  struct stat st{};
  if (::fstatat(dir.get(), name, &st, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  return Error::from_errno("fstatat").with(name);
}

// Lies over itself from here on with these attributes: each copy of it has them.
Status make_mask(const os::Fd& disk, const char* name) {
  TRY(const os::Fd mask, os::open_tree(disk, name, os::Reach::one));
  TRY_DO(os::mount_setattr(mask, kNoWrite, os::Reach::one));
  return os::move_mount(mask, disk, name);
}

// A copy of the mask over `name`, where there is such an entry.
Status lay_mask(const os::Fd& proc, const char* name, const os::Fd& disk, const char* mask) {
  TRY(const bool there, is_there(proc, name));
  if (!there) return {};
  TRY(const os::Fd tree, os::open_tree(disk, mask, os::Reach::one));
  return os::move_mount(tree, proc, name);
}

Status lay_read_only(const os::Fd& proc, const char* name) {
  TRY(const bool there, is_there(proc, name));
  if (!there) return {};
  return make_mask(proc, name);
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
  for (const char* mask : {"blank", "empty"}) TRY_DO(make_mask(disk, mask));
  for (const char* name : kBlankFiles) TRY_DO(lay_mask(proc, name, disk, "blank"));
  for (const char* name : kEmptyDirectories) TRY_DO(lay_mask(proc, name, disk, "empty"));
  for (const char* name : kReadOnlyDirectories) TRY_DO(lay_read_only(proc, name));
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
