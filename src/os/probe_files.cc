// SPDX-License-Identifier: Apache-2.0
// Mounts made, copied, shifted and layered where nobody else sees them.
#include "os/probe_files.h"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "os/file.h"
#include "os/mount.h"
#include "os/namespace.h"
#include "os/openat2.h"

namespace cordon::os {
namespace {

// Covered in our own mount namespace only. The one directory that is sure to be there.
constexpr const char* kPlace = "/proc";

Fact fact_of(const Status& done) { return done ? ok_fact() : refused_fact(done.error()); }

// A call that fails where it should have been held, or the other way round.
Error unheld_error(std::string what) { return {Errc::unavailable, std::move(what)}; }

Status enter_own_mount_namespace() {
  TRY_DO(unshare(Ns::mount));
  return set_propagation(at_cwd(), "/", Propagation::private_);
}

Result<Fd> put_new_tmpfs_in_place() {
  TRY(const Fd context, fsopen("tmpfs"));
  TRY_DO(fsconfig_create(context));
  TRY(const Fd mount, fsmount(context, {.nosuid = true, .nodev = true}));
  TRY_DO(move_mount(mount, at_cwd(), kPlace));
  return openat(at_cwd(), kPlace, O_RDONLY | O_DIRECTORY);
}

Status use_the_mount_api() {
  TRY_DO(enter_own_mount_namespace());
  TRY(const Fd place, put_new_tmpfs_in_place());
  TRY_DO(create_file(place, "file", "1", 0600));
  TRY(const Fd copy, open_tree(at_cwd(), kPlace));
  TRY_DO(mount_setattr(copy, {.read_only = true}));
  TRY_DO(read_file(copy, "file"));
  const Status written = create_file(copy, "other", "1", 0600);
  if (written || written.error().cause().value() != EROFS)
    return unheld_error("read-only does not hold");
  return {};
}

Status make_directories(const Fd& place) {
  for (const char* const name : {"lower", "upper", "work"}) {
    if (::mkdirat(place.get(), name, 0700) != 0) return Error::from_errno("mkdir").with(name);
  }
  return create_file(place, "lower/old", "1", 0600);
}

Result<Fd> mount_overlay() {
  TRY(const Fd context, fsopen("overlay"));
  TRY_DO(fsconfig_string(context, "lowerdir", fmt::format("{}/lower", kPlace).c_str()));
  TRY_DO(fsconfig_string(context, "upperdir", fmt::format("{}/upper", kPlace).c_str()));
  TRY_DO(fsconfig_string(context, "workdir", fmt::format("{}/work", kPlace).c_str()));
  // In a user namespace the layer's notes cannot be trusted.* attributes.
  TRY_DO(fsconfig_flag(context, "userxattr"));
  TRY_DO(fsconfig_create(context));
  return fsmount(context, {.nosuid = true, .nodev = true});
}

bool exists_at(const Fd& dir, const char* path) {
  return ::faccessat(dir.get(), path, F_OK, 0) == 0;
}

Status use_an_overlay() {
  TRY_DO(enter_own_mount_namespace());
  TRY(const Fd place, put_new_tmpfs_in_place());
  TRY_DO(make_directories(place));
  TRY(const Fd merged, mount_overlay());
  TRY_DO(create_file(merged, "new", "1", 0600));
  if (::unlinkat(merged.get(), "old", 0) != 0) return Error::from_errno("unlink");
  const bool kept = exists_at(place, "lower/old") && !exists_at(place, "lower/new");
  const bool shown = exists_at(merged, "new") && !exists_at(merged, "old");
  if (!kept || !shown || !exists_at(place, "upper/new"))
    return unheld_error("the layers are mixed up");
  return {};
}

// A user namespace that lives as long as its descriptor, with the ids of a trial.
Result<Fd> make_user_namespace(const Caller& caller, const TrialLimit& limit) {
  Result<Fd> ns = unheld_error("no user namespace");
  const auto keep = [&](pid_t pid) -> Status {
    TRY_DO(write_trial_maps(caller, pid));
    ns = open_ns(Ns::user, pid);
    return {};
  };
  const Fact made = in_user_namespace(keep, [] { return ok_fact(); }, limit);
  if (made.support != Support::ok) return Error{Errc::unavailable, made.detail};
  return ns;
}

// The whole tree is copied, because a part of it may not be taken out of its user namespace; ids
// are shifted on its top only, which is enough to see whether that works.
Status shift_ids_of_root(const Fd& user_namespace, uid_t expected) {
  TRY_DO(enter_own_mount_namespace());
  TRY(const Fd copy, open_tree(at_cwd(), "/"));
  TRY_DO(idmap_mount(copy, user_namespace, Reach::one));
  struct stat seen{};
  if (::fstat(copy.get(), &seen) != 0) return Error::from_errno("fstat");
  if (seen.st_uid != expected) return unheld_error("ids are not shifted");
  return {};
}

Fact shift_ids_as_user() {
  const auto ns = open_ns(Ns::user);
  if (!ns) return refused_fact(ns.error());
  const Status done = shift_ids_of_root(*ns, 0);
  if (done) return ok_fact();
  return {Support::blocked,
          "only root may, on directories of the host: " + done.error().cause().message(),
          {}};
}

}  // namespace

Fact probe_mount_api(const Caller& caller, const TrialLimit& limit) {
  return in_user_namespace(caller, [] { return fact_of(use_the_mount_api()); }, limit);
}

Fact probe_overlay(const Caller& caller, const TrialLimit& limit) {
  return in_user_namespace(caller, [] { return fact_of(use_an_overlay()); }, limit);
}

Fact probe_idmapped_mounts(const Caller& caller, const TrialLimit& limit) {
  if (!caller.root) return in_user_namespace(caller, shift_ids_as_user, limit);
  const auto ns = make_user_namespace(caller, limit);
  if (!ns) return {Support::blocked, ns.error().text(), {}};
  struct stat root{};
  if (::stat("/", &root) != 0) return refused_fact(Error::from_errno("stat"));
  const Status done = shift_ids_of_root(*ns, kTrialFirstId + root.st_uid);
  if (done) return ok_fact("on the root file system");
  // The attribute is unknown to the kernel, or to this file system.
  const bool unknown = done.error().cause().value() == EINVAL;
  return unknown ? Fact{Support::absent, done.error().text(), {}} : refused_fact(done.error());
}

Fact probe_openat2() {
  const auto proc = openat(at_cwd(), "/proc", O_RDONLY | O_DIRECTORY);
  if (!proc) return refused_fact(proc.error());
  if (const auto inside = open_beneath(*proc, "self"); !inside) return refused_fact(inside.error());
  const auto outside = open_beneath(*proc, "..");
  if (!outside && outside.error().cause().value() == EXDEV) return ok_fact();
  return {Support::blocked, "a path can leave its directory", {}};
}

}  // namespace cordon::os
