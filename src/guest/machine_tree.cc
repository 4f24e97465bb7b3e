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

#include "frame/fences.h"
#include "os/capability.h"
#include "os/device_table.h"
#include "os/file.h"
#include "os/identity.h"
#include "os/prctl.h"
#include "os/proc_fence.h"

namespace cordon::guest {
namespace {

constexpr const char* kTree = "/tree";
constexpr const char* kMasks = "/masks";  // below what becomes the root

Status mount_at(const char* type, const std::string& where, unsigned long flags,
                const char* options) {
  if (::mount(type, where.c_str(), type, flags, options) != 0)
    return Error::from_errno("mount").with(where);
  return {};
}

Status make_devices(bool shared_memory) {
  const std::string dev = std::string{kTree} + "/dev";
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
  if (::mkdir((dev + "/pts").c_str(), 0755) != 0) return Error::from_errno("mkdir").with("pts");
  TRY_DO(mount_at("devpts", dev + "/pts", MS_NOSUID | MS_NOEXEC,
                  "newinstance,ptmxmode=0666,mode=0600"));
  if (shared_memory) {
    if (::mkdir((dev + "/shm").c_str(), 0755) != 0) return Error::from_errno("mkdir").with("shm");
    TRY_DO(mount_at("tmpfs", dev + "/shm", MS_NOSUID | MS_NODEV, "mode=1777"));
  }
  if (::mount(nullptr, dev.c_str(), nullptr,
              MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, nullptr) != 0) {
    return Error::from_errno("mount").with(dev);
  }
  return {};
}

// The kernel is the machine's own; but who has id 0 in it, and no capability, owns the files that
// change it.
Status make_proc() {
  const std::string where = std::string{kTree} + "/proc";
  TRY_DO(mount_at("proc", where, MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
  if (::mkdir(kMasks, 0755) != 0) return Error::from_errno("mkdir").with(kMasks);
  TRY(const os::Fd masks, os::openat(os::at_cwd(), kMasks, O_PATH | O_DIRECTORY));
  if (::mkdirat(masks.get(), os::kEmpty, 0755) != 0) return Error::from_errno("mkdirat");
  TRY_DO(os::create_file(masks, os::kBlank, "", 0444));
  TRY(const os::Fd proc, os::openat(os::at_cwd(), where.c_str(), O_PATH | O_DIRECTORY));
  TRY(const os::Fd limits, os::fence_proc(proc, masks));
  return os::forbid_namespaces(limits);
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
  TRY_DO(os::set_keep_capabilities(true));
  TRY_DO(os::set_groups({}));
  TRY_DO(os::set_group(frame::kInitId));
  TRY_DO(os::set_user(frame::kInitId));
  TRY_DO(os::keep_across_exec({CAP_SETUID, CAP_SETGID, CAP_KILL}, {}));
  return os::set_no_new_privs();
}

}  // namespace

Result<os::Fd> mount_tree() {
  if (::mkdir(kTree, 0755) != 0) return Error::from_errno("mkdir").with(kTree);
  TRY(os::Fd fuse, os::openat(os::at_cwd(), "/dev/fuse", O_RDWR | O_NONBLOCK));
  const std::string options =
      "fd=" + std::to_string(fuse.get()) +
      ",rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions,max_read=131072";
  TRY_DO(mount_at("fuse", kTree, MS_NOSUID | MS_NODEV, options.c_str()));
  return fuse;
}

Status enter_machine_tree(const frame::Wake& wake) {
  TRY_DO(make_devices(wake.shared_memory));
  TRY_DO(make_proc());
  TRY_DO(change_root());
  return become_init();
}

}  // namespace cordon::guest
