// SPDX-License-Identifier: Apache-2.0
// statx, the call that also tells when a file was born.
#include "os/file_status.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace cordon::os {
namespace {

FileType type_of(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return FileType::directory;
    case S_IFLNK:
      return FileType::symlink;
    case S_IFCHR:
      return FileType::character_device;
    case S_IFBLK:
      return FileType::block_device;
    case S_IFIFO:
      return FileType::fifo;
    case S_IFSOCK:
      return FileType::socket;
    default:
      return FileType::regular;
  }
}

FileTime time_of(const struct statx_timestamp& stamp) {
  return file_time(stamp.tv_sec, stamp.tv_nsec);
}

Result<FileStatus> ask(int dir, const char* name, int flags) {
  struct statx raw{};
  if (::statx(dir, name, flags | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &raw) != 0) {
    return Error::from_errno("statx");
  }
  return FileStatus{
      .type = type_of(raw.stx_mode),
      .mode = raw.stx_mode & 07777U,
      .uid = raw.stx_uid,
      .gid = raw.stx_gid,
      .size = raw.stx_size,
      .allocated = raw.stx_blocks * 512,
      .links = raw.stx_nlink,
      .device = makedev(raw.stx_dev_major, raw.stx_dev_minor),
      .inode = raw.stx_ino,
      .device_number = makedev(raw.stx_rdev_major, raw.stx_rdev_minor),
      .changed = time_of(raw.stx_ctime),
      .modified = time_of(raw.stx_mtime),
      .born = time_of((raw.stx_mask & STATX_BTIME) != 0 ? raw.stx_btime : raw.stx_ctime),
  };
}

}  // namespace

std::string_view to_string(FileType type) noexcept {
  switch (type) {
    case FileType::regular:
      return "file";
    case FileType::directory:
      return "directory";
    case FileType::symlink:
      return "symlink";
    case FileType::character_device:
      return "character device";
    case FileType::block_device:
      return "block device";
    case FileType::fifo:
      return "fifo";
    case FileType::socket:
      return "socket";
  }
  return "file";
}

FileTime file_time(std::int64_t seconds, std::uint32_t nanoseconds) noexcept {
  using std::chrono::floor;
  if (seconds < floor<std::chrono::seconds>(FileTime::min()).time_since_epoch().count() + 1)
    return FileTime::min();
  if (seconds >= floor<std::chrono::seconds>(FileTime::max()).time_since_epoch().count())
    return FileTime::max();
  return FileTime{std::chrono::seconds{seconds} + std::chrono::nanoseconds{nanoseconds}};
}

Result<FileStatus> statx(const Fd& fd) { return ask(fd.get(), "", AT_EMPTY_PATH); }

Result<FileStatus> statx(const Fd& dir, const char* name) {
  auto status = ask(dir.get(), name, AT_SYMLINK_NOFOLLOW);
  if (!status) return std::move(status).error().with(name);
  return status;
}

}  // namespace cordon::os
