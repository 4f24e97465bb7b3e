// SPDX-License-Identifier: Apache-2.0
#include "os/proc_fence.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>

#include "os/file.h"
#include "os/mount.h"

namespace cordon::os {
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

constexpr MountAttributes kNoWrite{
    .read_only = true, .nosuid = true, .nodev = true, .noexec = true};

Result<bool> is_there(const Fd& dir, const char* name) {
  struct stat st{};
  if (::fstatat(dir.get(), name, &st, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  return Error::from_errno("fstatat").with(name);
}

// Lies over itself from here on with these attributes: each copy of it has them.
Status make_mask(const Fd& disk, const char* name) {
  TRY(const Fd mask, open_tree(disk, name, Reach::one));
  TRY_DO(mount_setattr(mask, kNoWrite, Reach::one));
  return move_mount(mask, disk, name);
}

// A copy of the mask over `name`, where there is such an entry.
Status lay_mask(const Fd& proc, const char* name, const Fd& disk, const char* mask) {
  TRY(const bool there, is_there(proc, name));
  if (!there) return {};
  TRY(const Fd tree, open_tree(disk, mask, Reach::one));
  return move_mount(tree, proc, name);
}

Status lay_read_only(const Fd& proc, const char* name) {
  TRY(const bool there, is_there(proc, name));
  if (!there) return {};
  return make_mask(proc, name);
}

}  // namespace

Result<Fd> fence_proc(const Fd& proc, const Fd& masks) {
  // From below what is laid over `sys`: its files are still writable through this.
  TRY(Fd limits, openat(proc, "sys/user", O_PATH | O_DIRECTORY));
  for (const char* mask : {kBlank, kEmpty}) TRY_DO(make_mask(masks, mask));
  for (const char* name : kBlankFiles) TRY_DO(lay_mask(proc, name, masks, kBlank));
  for (const char* name : kEmptyDirectories) TRY_DO(lay_mask(proc, name, masks, kEmpty));
  for (const char* name : kReadOnlyDirectories) TRY_DO(lay_read_only(proc, name));
  return limits;
}

Status forbid_namespaces(const Fd& limits) {
  for (const char* kind : kNamespaceLimits) {
    const std::string file = std::string{"max_"} + kind + "_namespaces";
    const Status written = write_file(limits, file.c_str(), "0");
    // Time namespaces are younger than the others.
    if (!written && written.error().code() != Errc::not_found) return written;
  }
  return {};
}

}  // namespace cordon::os
