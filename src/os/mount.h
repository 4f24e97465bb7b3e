// SPDX-License-Identifier: Apache-2.0
// The mount calls that work on descriptors: a mount is built out of sight and put in place last.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

struct MountAttributes {
  bool read_only = false;
  bool nosuid = false;
  bool nodev = false;
  bool noexec = false;
  bool nosymfollow = false;
  bool noatime = false;
};

enum class Reach : std::uint8_t { one, whole_tree };  // of nested mounts
enum class Propagation : std::uint8_t { shared, private_, slave, unbindable };

// A detached copy of the mount that holds `path` (a bind mount that is nowhere yet), or with
// `whole_tree` of all mounts below too. It vanishes with the descriptor unless moved in place.
// Outside the owner's user namespace `one` is refused where it would bare what a mount hides.
Result<Fd> open_tree(const Fd& at, const char* path, Reach reach = Reach::whole_tree);
// The same from a descriptor, O_PATH will do: what open_beneath found is what is mounted. It must
// have been opened in the caller's mount namespace: after unshare older ones are refused (invalid).
Result<Fd> open_tree(const Fd& from, Reach reach = Reach::whole_tree);

// Puts a detached mount in place; the last component of `path` is not followed if it is a link.
Status move_mount(const Fd& mount, const Fd& at, const char* path);
// Puts it over what `onto` refers to, again opened in the caller's mount namespace.
Status move_mount(const Fd& mount, const Fd& onto);

// A new filesystem in the making. Errors of these calls carry what the kernel wrote about them.
Result<Fd> fsopen(const char* type);
Status fsconfig_string(const Fd& context, const char* key, const char* value);
Status fsconfig_flag(const Fd& context, const char* key);
Status fsconfig_fd(const Fd& context, const char* key, const Fd& value);
Status fsconfig_create(const Fd& context);
// The filesystem of a mount, to be changed: fsconfig_string, then fsconfig_reconfigure. `mount` is
// the descriptor of a mount's top, O_PATH will do.
Result<Fd> fspick(const Fd& mount);
Status fsconfig_reconfigure(const Fd& context);
// A detached mount of what fsconfig_create made.
Result<Fd> fsmount(const Fd& context, const MountAttributes& attributes);

// Sets attributes and clears none. On mounts that came from another user namespace the atime mode
// is locked (denied), the rest can be set.
Status mount_setattr(const Fd& mount, const MountAttributes& attributes,
                     Reach reach = Reach::whole_tree);
Status set_propagation(const Fd& at, const char* path, Propagation propagation,
                       Reach reach = Reach::whole_tree);
// Files appear with the ids that `user_namespace` maps them to. The mount must still be detached,
// and can be so mapped once.
Status idmap_mount(const Fd& mount, const Fd& user_namespace, Reach reach = Reach::whole_tree);

// Takes a mount out of sight at once; it ends when its last user has gone. Follows no link.
Status umount_detach(const char* path);

// `new_root` becomes "/", the old one appears at `put_old`, which is at or below it. With both "."
// the old root lies on top of the new one: umount_detach(".") then takes it away.
Status pivot_root(const char* new_root, const char* put_old);
Status fchdir(const Fd& dir);

}  // namespace cordon::os
