// SPDX-License-Identifier: Apache-2.0
#include "launcher/erofs_roots.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

#include "launcher/file_digest.h"
#include "os/directory.h"
#include "os/erofs.h"
#include "os/file.h"
#include "os/file_status.h"
#include "os/mount.h"

namespace cordon::launcher {
namespace {

constexpr std::size_t kMostMounted = 64;
// Where they hang, one over the other: seen by nobody, since the namespace is our own, and so it
// does not matter whose it is.
constexpr const char* kPlace = "/run/cordon-roots";

std::uint64_t time_of(const os::FileStatus& about) {
  return static_cast<std::uint64_t>(about.changed.time_since_epoch().count());
}

// Who wrote it chooses what the kernel reads as a file system: that is nobody but us.
Status check_owner(const os::FileStatus& about) {
  if (about.type != os::FileType::regular) return Error{Errc::invalid, "it is no file"};
  if (about.uid == ::geteuid() && (about.mode & 022U) == 0) return {};
  return Error{Errc::denied, "it belongs to somebody else, or others may write to it"};
}

Status check(const os::Fd& file, const os::FileStatus& about, const frame::RootFile& wanted) {
  const bool is_as_it_was =
      about.inode == wanted.inode && about.size == wanted.size && time_of(about) == wanted.changed;
  if (is_as_it_was) return {};
  TRY(const std::string digest, digest_of(file));
  if (digest == wanted.digest) return {};
  return Error{Errc::invalid, "it is " + digest + " and not " + wanted.digest +
                                  ": it was changed after it was made"};
}

// A mount is copied only where it hangs in a namespace.
Result<os::Fd> hang(const os::Fd& mount) {
  const Status made = os::mkdirat(os::at_cwd(), kPlace, 0700);
  if (!made && made.error().code() != Errc::exists) return made.error();
  TRY_DO(os::move_mount(mount, os::at_cwd(), kPlace));
  return os::openat(mount, ".", O_RDONLY | O_DIRECTORY);
}

}  // namespace

Result<os::Fd> ErofsRoots::open(const os::Fd& file, const frame::RootFile& wanted) {
  TRY(const os::FileStatus about, os::statx(file));
  TRY_DO(check_owner(about));
  const auto known = std::ranges::find_if(mounted_, [&](const Mounted& each) {
    return each.digest == wanted.digest && each.device == about.device &&
           each.inode == about.inode && each.changed == time_of(about);
  });
  if (known != mounted_.end()) {
    mounted_.splice(mounted_.begin(), mounted_, known);
    return os::duplicate(known->top);
  }
  TRY_DO(check(file, about, wanted));
  TRY(const os::Fd mount, os::mount_erofs(os::proc_path(file)));
  TRY(os::Fd top, hang(mount));
  TRY(os::Fd given, os::duplicate(top));
  mounted_.push_front({.digest = wanted.digest,
                       .device = about.device,
                       .inode = about.inode,
                       .changed = time_of(about),
                       .top = std::move(top)});
  if (mounted_.size() > kMostMounted) {
    static_cast<void>(os::umount_detach((os::proc_path(mounted_.back().top) + "/.").c_str()));
    mounted_.pop_back();
  }
  return given;
}

}  // namespace cordon::launcher
