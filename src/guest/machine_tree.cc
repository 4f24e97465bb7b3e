// SPDX-License-Identifier: Apache-2.0
#include "guest/machine_tree.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/capability.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest/init_id.h"
#include "os/capability.h"
#include "os/device_table.h"
#include "os/file.h"
#include "os/prctl.h"
#include "os/proc_fence.h"

namespace cordon::guest {
namespace {

constexpr const char* kTree = "/tree";
constexpr const char* kMasks = "/masks";  // below what becomes the root, as these
constexpr const char* kStagedDev = "/staged-dev";
constexpr const char* kStagedProc = "/staged-proc";

Status make_empty(const std::string& where) {
  if (::mkdir(where.c_str(), 0755) != 0) return Error::from_errno("mkdir").with(where);
  return {};
}

Status mount_at(const char* type, const std::string& where, unsigned long flags,
                const char* options) {
  if (::mount(type, where.c_str(), type, flags, options) != 0)
    return Error::from_errno("mount").with(where);
  return {};
}

Status make_devices() {
  const std::string dev = kStagedDev;
  TRY_DO(make_empty(dev));
  TRY_DO(mount_at("tmpfs", dev, MS_NOSUID | MS_NOEXEC, "mode=0755,size=64k"));
  ::umask(0);
  for (const os::DeviceNode& node : os::kDeviceNodes) {
    if (::mknod((dev + "/" + node.name).c_str(), S_IFCHR | 0666,
                makedev(node.major_number, node.minor_number)) != 0) {
      return Error::from_errno("mknod").with(node.name);
    }
  }
  for (const os::DeviceLink& link : os::kDeviceLinks) {
    if (::symlink(link.to, (dev + "/" + link.name).c_str()) != 0)
      return Error::from_errno("symlink").with(link.name);
  }
  ::umask(022);
  TRY_DO(make_empty(dev + "/pts"));
  return mount_at("devpts", dev + "/pts", MS_NOSUID | MS_NOEXEC,
                  "newinstance,ptmxmode=0666,mode=0600");
}

Status finish_devices() {
  const std::string dev = kStagedDev;
  TRY_DO(make_empty(dev + "/shm"));
  TRY_DO(mount_at("tmpfs", dev + "/shm", MS_NOSUID | MS_NODEV, "mode=1777"));
  if (::mount(nullptr, dev.c_str(), nullptr,
              MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, nullptr) != 0) {
    return Error::from_errno("mount").with(dev);
  }
  return {};
}

// The kernel is the machine's own; but who has id 0 in it, and no capability, owns the files that
// change it.
Status make_proc() {
  TRY_DO(make_empty(kStagedProc));
  TRY_DO(mount_at("proc", kStagedProc, MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
  TRY_DO(make_empty(kMasks));
  TRY(const os::Fd masks, os::openat(os::at_cwd(), kMasks, O_PATH | O_DIRECTORY));
  if (::mkdirat(masks.get(), os::kEmpty, 0755) != 0) return Error::from_errno("mkdirat");
  TRY_DO(os::create_file(masks, os::kBlank, "", 0444));
  TRY(const os::Fd proc, os::openat(os::at_cwd(), kStagedProc, O_PATH | O_DIRECTORY));
  TRY(const os::Fd limits, os::fence_proc(proc, masks));
  return os::forbid_namespaces(limits);
}

// With all that is mounted below it.
Status move_into_tree(const char* from, const char* name) {
  const std::string to = std::string{kTree} + name;
  if (::mount(from, to.c_str(), nullptr, MS_MOVE, nullptr) != 0)
    return Error::from_errno("mount").with(to);
  return {};
}

Status change_root() {
  if (::chdir(kTree) != 0) return Error::from_errno("chdir");
  if (::mount(".", "/", nullptr, MS_MOVE, nullptr) != 0)
    return Error::from_errno("mount").with("/");
  if (::chroot(".") != 0 || ::chdir("/") != 0) return Error::from_errno("chroot");
  return {};
}

// As in a sandbox without a machine: what starts programs needs these, and nothing else.
Status become_init() {
  TRY_DO(take_init_id());
  TRY_DO(os::keep_across_exec({CAP_SETUID, CAP_SETGID, CAP_KILL}, {}));
  return os::set_no_new_privs();
}

}  // namespace

Result<os::Fd> mount_tree() {
  TRY_DO(make_empty(kTree));
  TRY(os::Fd fuse, os::openat(os::at_cwd(), "/dev/fuse", O_RDWR | O_NONBLOCK));
  const std::string options =
      "fd=" + std::to_string(fuse.get()) +
      ",rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions,max_read=131072";
  TRY_DO(mount_at("fuse", kTree, MS_NOSUID | MS_NODEV, options.c_str()));
  return fuse;
}

Status enter_machine_tree() {
  TRY_DO(make_devices());
  TRY_DO(finish_devices());
  TRY_DO(make_proc());
  TRY_DO(move_into_tree(kStagedDev, "/dev"));
  TRY_DO(move_into_tree(kStagedProc, "/proc"));
  TRY_DO(change_root());
  return become_init();
}

}  // namespace cordon::guest
