// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "files/tree_server.h"
#include "os/file.h"

namespace cordon::files {
namespace {

constexpr std::uint32_t kReadAhead = 128U << 10U;
constexpr std::uint32_t kWantedFlags = FUSE_ASYNC_READ | FUSE_ATOMIC_O_TRUNC | FUSE_BIG_WRITES |
                                       FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO |
                                       FUSE_PARALLEL_DIROPS | FUSE_AUTO_INVAL_DATA |
                                       FUSE_MAX_PAGES | FUSE_CACHE_SYMLINKS | FUSE_HANDLE_KILLPRIV;
constexpr std::uint32_t kPage = 4096;

std::uint64_t seconds_of(const timespec& time) { return static_cast<std::uint64_t>(time.tv_sec); }
std::uint32_t nanoseconds_of(const timespec& time) {
  return static_cast<std::uint32_t>(time.tv_nsec);
}

timespec time_of(const fuse_setattr_in& how, std::uint32_t given, std::uint32_t now,
                 std::uint64_t seconds, std::uint32_t nanoseconds) {
  if ((how.valid & now) != 0) return {.tv_sec = 0, .tv_nsec = UTIME_NOW};
  if ((how.valid & given) == 0) return {.tv_sec = 0, .tv_nsec = UTIME_OMIT};
  return {.tv_sec = static_cast<time_t>(seconds), .tv_nsec = static_cast<long>(nanoseconds)};
}

Status set_times(const Place& place, const fuse_setattr_in& how) {
  const timespec times[2] = {time_of(how, FATTR_ATIME, FATTR_ATIME_NOW, how.atime, how.atimensec),
                             time_of(how, FATTR_MTIME, FATTR_MTIME_NOW, how.mtime, how.mtimensec)};
  if (::utimensat(place.directory.get(), place.name.c_str(), &times[0], AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("utimensat");
  }
  return {};
}

Status set_size(const Place& place, std::uint64_t size) {
  TRY(const os::Fd file,
      os::openat(place.directory, place.name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK));
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return Error::from_errno("ftruncate");
  return {};
}

Status set_owner(const Place& place, const fuse_setattr_in& how) {
  const auto uid = (how.valid & FATTR_UID) != 0 ? how.uid : static_cast<std::uint32_t>(-1);
  const auto gid = (how.valid & FATTR_GID) != 0 ? how.gid : static_cast<std::uint32_t>(-1);
  if (::fchownat(place.directory.get(), place.name.c_str(), uid, gid, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("fchownat");
  }
  return {};
}

constexpr std::uint32_t kTimes = FATTR_ATIME | FATTR_MTIME | FATTR_ATIME_NOW | FATTR_MTIME_NOW;
constexpr std::uint32_t kByName = FATTR_MODE | FATTR_UID | FATTR_GID | FATTR_SIZE | kTimes;

Status change(const Place& place, const fuse_setattr_in& how, std::uint32_t wanted) {
  const bool has_mode = (wanted & FATTR_MODE) != 0;
  if (has_mode &&
      ::fchmodat(place.directory.get(), place.name.c_str(), how.mode & 07777U, 0) != 0) {
    return Error::from_errno("fchmodat");
  }
  if ((wanted & (FATTR_UID | FATTR_GID)) != 0) TRY_DO(set_owner(place, how));
  if ((wanted & FATTR_SIZE) != 0) TRY_DO(set_size(place, how.size));
  if ((wanted & kTimes) != 0) TRY_DO(set_times(place, how));
  return {};
}

}  // namespace

// The same of every tree: a machine that was saved does not ask again.
Status TreeServer::init(Request& request, Reply& reply) {
  const auto asked = request.body.take<fuse_init_in>();
  if (!asked) return senseless();
  fuse_init_out out{};
  out.major = FUSE_KERNEL_VERSION;
  out.minor = FUSE_KERNEL_MINOR_VERSION;
  out.max_readahead = std::min(asked->max_readahead, kReadAhead);
  out.flags = asked->flags & kWantedFlags;
  out.max_background = 16;
  out.congestion_threshold = 12;
  out.max_write = kMostData;
  out.time_gran = 1;
  out.max_pages = kMostData / kPage;
  reply.add(out);
  return {};
}

// One number for files of several file systems, which a guest sees as one.
fuse_attr TreeServer::shown(const struct stat& st) {
  auto at = std::ranges::find(devices_, st.st_dev);
  if (at == devices_.end()) at = devices_.insert(devices_.end(), st.st_dev);
  const auto device = static_cast<std::uint64_t>(at - devices_.begin());
  fuse_attr attr{};
  attr.ino = st.st_ino ^ (device << 48U);
  attr.size = static_cast<std::uint64_t>(st.st_size);
  attr.blocks = static_cast<std::uint64_t>(st.st_blocks);
  attr.atime = seconds_of(st.st_atim);
  attr.mtime = seconds_of(st.st_mtim);
  attr.ctime = seconds_of(st.st_ctim);
  attr.atimensec = nanoseconds_of(st.st_atim);
  attr.mtimensec = nanoseconds_of(st.st_mtim);
  attr.ctimensec = nanoseconds_of(st.st_ctim);
  attr.mode = st.st_mode;
  attr.nlink = static_cast<std::uint32_t>(st.st_nlink);
  attr.uid = st.st_uid;
  attr.gid = st.st_gid;
  attr.rdev = static_cast<std::uint32_t>(st.st_rdev);
  attr.blksize = static_cast<std::uint32_t>(st.st_blksize);
  return attr;
}

Result<fuse_entry_out> TreeServer::entry_of(NodeId parent, std::string_view name,
                                            const struct stat& st) {
  fuse_entry_out out{};
  TRY(out.nodeid,
      nodes_.found(parent, name,
                   {.device = st.st_dev, .inode = st.st_ino, .kind = st.st_mode & S_IFMT}));
  out.entry_valid = believed_;
  out.attr_valid = believed_;
  out.attr = shown(st);
  return out;
}

// By its name, or where it has none any more by what is open of it.
Result<struct stat> TreeServer::stat_of(NodeId id) const {
  struct stat st{};
  auto place = nodes_.place_of(id);
  if (place &&
      ::fstatat(place->directory.get(), place->name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0) {
    return st;
  }
  const Error why = place ? Error::from_errno("fstatat") : place.error();
  for (const auto& [number, open] : handles_) {
    if (open.node == id && ::fstat(open.file.get(), &st) == 0) return st;
  }
  return why;
}

Status TreeServer::get_attributes(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_getattr_in>();
  if (!how) return senseless();
  fuse_attr_out out{};
  out.attr_valid = believed_;
  if ((how->getattr_flags & FUSE_GETATTR_FH) != 0) {
    TRY(const os::Fd* file, handle(how->fh));
    struct stat st{};
    if (::fstat(file->get(), &st) != 0) return Error::from_errno("fstat");
    out.attr = shown(st);
  } else {
    TRY(const struct stat st, stat_of(request.head.nodeid));
    out.attr = shown(st);
  }
  reply.add(out);
  return {};
}

Status TreeServer::set_attributes(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_setattr_in>();
  if (!how) return senseless();
  std::uint32_t wanted = how->valid;
  if ((wanted & FATTR_SIZE) != 0 && (wanted & FATTR_FH) != 0) {
    TRY(const os::Fd* file, handle(how->fh));
    if (::ftruncate(file->get(), static_cast<off_t>(how->size)) != 0) {
      return Error::from_errno("ftruncate");
    }
    wanted &= ~std::uint32_t{FATTR_SIZE};
  }
  if ((wanted & FATTR_MODE) != 0 && permissions(how->mode) != (how->mode & 07777U)) {
    return Error::from_errno("fchmodat", EPERM);
  }
  if ((wanted & kByName) != 0) {
    TRY(const Place place, nodes_.place_of(request.head.nodeid));
    TRY_DO(change(place, *how, wanted));
  }
  fuse_attr_out out{};
  out.attr_valid = believed_;
  TRY(const struct stat st, stat_of(request.head.nodeid));
  out.attr = shown(st);
  reply.add(out);
  return {};
}

Status TreeServer::status_of_system(Request& request, Reply& reply) {
  TRY(const Place place, nodes_.place_of(request.head.nodeid));
  TRY(const os::Fd at, os::openat(place.directory, place.name.c_str(), O_PATH | O_NOFOLLOW));
  struct statfs st{};
  if (::fstatfs(at.get(), &st) != 0) return Error::from_errno("fstatfs");
  fuse_statfs_out out{};
  out.st.blocks = st.f_blocks;
  out.st.bfree = st.f_bfree;
  out.st.bavail = st.f_bavail;
  out.st.files = st.f_files;
  out.st.ffree = st.f_ffree;
  out.st.bsize = static_cast<std::uint32_t>(st.f_bsize);
  out.st.namelen = static_cast<std::uint32_t>(st.f_namelen);
  out.st.frsize = static_cast<std::uint32_t>(st.f_frsize);
  reply.add(out);
  return {};
}

void TreeServer::forget_many(Request& request) {
  const auto how = request.body.take<fuse_batch_forget_in>();
  if (!how) return;
  for (std::uint32_t number = 0; number < how->count; ++number) {
    const auto one = request.body.take<fuse_forget_one>();
    if (!one) return;
    nodes_.forget(one->nodeid, one->nlookup);
  }
}

}  // namespace cordon::files
