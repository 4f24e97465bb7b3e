// SPDX-License-Identifier: Apache-2.0
// The new mount API by system call number.
#include "os/mount.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cordon::os {
namespace {

unsigned recursive(Reach reach) { return reach == Reach::whole_tree ? AT_RECURSIVE : 0U; }

std::uint64_t to_bits(const MountAttributes& attributes) {
  std::uint64_t bits = 0;
  if (attributes.read_only) bits |= MOUNT_ATTR_RDONLY;
  if (attributes.nosuid) bits |= MOUNT_ATTR_NOSUID;
  if (attributes.nodev) bits |= MOUNT_ATTR_NODEV;
  if (attributes.noexec) bits |= MOUNT_ATTR_NOEXEC;
  if (attributes.nosymfollow) bits |= MOUNT_ATTR_NOSYMFOLLOW;
  if (attributes.noatime) bits |= MOUNT_ATTR_NOATIME;
  return bits;
}

std::uint64_t to_bits(Propagation propagation) {
  switch (propagation) {
    case Propagation::shared:
      return MS_SHARED;
    case Propagation::private_:
      return MS_PRIVATE;
    case Propagation::slave:
      return MS_SLAVE;
    case Propagation::unbindable:
      return MS_UNBINDABLE;
  }
  return MS_PRIVATE;
}

// What the filesystem wrote about its failure: a context fd gives it a line at each read.
std::string messages_of(const Fd& context) {
  std::string messages;
  std::array<char, 512> line{};
  for (int lines = 0; lines < 8; ++lines) {
    const ssize_t got = ::read(context.get(), line.data(), line.size());
    if (got <= 0) break;
    std::string_view text{line.data(), static_cast<std::size_t>(got)};
    while (text.ends_with('\n')) text.remove_suffix(1);
    if (!messages.empty()) messages += "; ";
    messages += text;
  }
  return messages;
}

Error context_error(const Fd& context, std::string_view call, std::string_view what) {
  const int err = errno;
  const std::string messages = messages_of(context);
  Error error = Error::from_errno(call, err).with(what);
  if (messages.empty()) return error;
  return std::move(error).with(messages);
}

Status fsconfig(const Fd& context, unsigned command, const char* key, const void* value,
                int auxiliary) {
  if (::syscall(SYS_fsconfig, context.get(), command, key, value, auxiliary) != 0) {
    return context_error(context, "fsconfig", key != nullptr ? key : "create");
  }
  return {};
}

Status set_attributes(const Fd& at, const char* path, unsigned flags, mount_attr attributes,
                      std::string_view what) {
  if (::syscall(SYS_mount_setattr, at.get(), path, flags, &attributes, sizeof attributes) != 0) {
    return Error::from_errno("mount_setattr").with(what);
  }
  return {};
}

Result<Fd> clone_tree(const Fd& at, const char* path, unsigned flags, std::string_view what) {
  const long fd = ::syscall(SYS_open_tree, at.get(), path,
                            static_cast<unsigned>(OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC) | flags);
  if (fd < 0) return Error::from_errno("open_tree").with(what);
  return Fd{static_cast<int>(fd)};
}

}  // namespace

Result<Fd> open_tree(const Fd& at, const char* path, Reach reach) {
  return clone_tree(at, path, recursive(reach), path);
}

Result<Fd> open_tree(const Fd& from, Reach reach) {
  return clone_tree(from, "", recursive(reach) | AT_EMPTY_PATH, name_of(from));
}

Status move_mount(const Fd& mount, const Fd& at, const char* path) {
  if (::syscall(SYS_move_mount, mount.get(), "", at.get(), path, MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    return Error::from_errno("move_mount").with(path);
  }
  return {};
}

Status move_mount(const Fd& mount, const Fd& onto) {
  if (::syscall(SYS_move_mount, mount.get(), "", onto.get(), "",
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
    return Error::from_errno("move_mount").with(name_of(onto));
  }
  return {};
}

Result<Fd> fsopen(const char* type) {
  const long fd = ::syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
  if (fd < 0) return Error::from_errno("fsopen").with(type);
  return Fd{static_cast<int>(fd)};
}

Result<Fd> fspick(const Fd& mount) {
  const long fd = ::syscall(SYS_fspick, mount.get(), "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);
  if (fd < 0) return Error::from_errno("fspick");
  return Fd{static_cast<int>(fd)};
}

Status fsconfig_string(const Fd& context, const char* key, const char* value) {
  return fsconfig(context, FSCONFIG_SET_STRING, key, value, 0);
}

Status fsconfig_flag(const Fd& context, const char* key) {
  return fsconfig(context, FSCONFIG_SET_FLAG, key, nullptr, 0);
}

Status fsconfig_fd(const Fd& context, const char* key, const Fd& value) {
  return fsconfig(context, FSCONFIG_SET_FD, key, nullptr, value.get());
}

Status fsconfig_create(const Fd& context) {
  return fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0);
}

Status fsconfig_reconfigure(const Fd& context) {
  return fsconfig(context, FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr, 0);
}

Result<Fd> fsmount(const Fd& context, const MountAttributes& attributes) {
  const long fd = ::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC,
                            static_cast<unsigned>(to_bits(attributes)));
  if (fd < 0) return context_error(context, "fsmount", name_of(context));
  return Fd{static_cast<int>(fd)};
}

Status mount_setattr(const Fd& mount, const MountAttributes& attributes, Reach reach) {
  mount_attr raw{};
  raw.attr_set = to_bits(attributes);
  // The three modes of atime are one field: setting any needs the whole field cleared.
  if (attributes.noatime) raw.attr_clr = MOUNT_ATTR__ATIME;
  return set_attributes(mount, "", AT_EMPTY_PATH | recursive(reach), raw, name_of(mount));
}

Status set_propagation(const Fd& at, const char* path, Propagation propagation, Reach reach) {
  mount_attr raw{};
  raw.propagation = to_bits(propagation);
  return set_attributes(at, path, AT_SYMLINK_NOFOLLOW | recursive(reach), raw, path);
}

Status idmap_mount(const Fd& mount, const Fd& user_namespace, Reach reach) {
  mount_attr raw{};
  raw.attr_set = MOUNT_ATTR_IDMAP;
  raw.userns_fd = static_cast<std::uint64_t>(user_namespace.get());
  return set_attributes(mount, "", AT_EMPTY_PATH | recursive(reach), raw,
                        "idmap " + name_of(mount));
}

Status umount_detach(const char* path) {
  if (::umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) != 0) {
    return Error::from_errno("umount2").with(path);
  }
  return {};
}

Status pivot_root(const char* new_root, const char* put_old) {
  if (::syscall(SYS_pivot_root, new_root, put_old) != 0) {
    return Error::from_errno("pivot_root").with(new_root);
  }
  return {};
}

Status fchdir(const Fd& dir) {
  if (::fchdir(dir.get()) != 0) return Error::from_errno("fchdir").with(name_of(dir));
  return {};
}

}  // namespace cordon::os
