// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "files/tree_server.h"
#include "os/file.h"

namespace cordon::files {
namespace {

// What a guest may ask for; the rest is its own kernel's business. Nothing that is opened makes us
// wait.
constexpr int kGuestFlags = O_ACCMODE | O_APPEND | O_TRUNC;
constexpr int kOwnFlags = O_NOFOLLOW | O_NONBLOCK;

struct KernelEntry {  // of getdents64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
};
constexpr std::size_t kEntryName = 19;
constexpr std::size_t kEntryBytes = std::size_t{32} << 10U;

Status check_regular(const os::Fd& file) {
  struct stat st{};
  if (::fstat(file.get(), &st) != 0) return Error::from_errno("fstat");
  if (!S_ISREG(st.st_mode)) return senseless();
  return {};
}

std::size_t padded(std::size_t size) { return (size + 7U) & ~std::size_t{7}; }

void pad(Reply& reply) {
  static constexpr std::array<std::byte, 8> kZeros{};
  reply.add(std::span{kZeros}.first(padded(reply.size()) - reply.size()));
}

}  // namespace

std::uint64_t TreeServer::keep(os::Fd file, NodeId node) {
  handles_.emplace(++last_handle_, Handle{std::move(file), node});
  return last_handle_;
}

Result<const os::Fd*> TreeServer::handle(std::uint64_t number) const {
  const auto at = handles_.find(number);
  if (at == handles_.end()) return Error::from_errno("handle", EBADF);
  return &at->second.file;
}

Status TreeServer::create(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_create_in>();
  const auto name = request.body.take_text();
  if (!how || !name || !is_name(*name)) return senseless();
  const NodeId parent = request.head.nodeid;
  TRY(const os::Fd directory, nodes_.open_directory(parent));
  const int flags = (static_cast<int>(how->flags) & (kGuestFlags | O_EXCL)) | O_CREAT | kOwnFlags;
  TRY(os::Fd file,
      os::openat(directory, std::string{*name}.c_str(), flags, permissions(how->mode)));
  TRY_DO(check_regular(file));
  struct stat st{};
  if (::fstat(file.get(), &st) != 0) return Error::from_errno("fstat");
  TRY(const fuse_entry_out entry, entry_of(parent, *name, st));
  reply.add(entry);
  fuse_open_out out{};
  out.fh = keep(std::move(file), entry.nodeid);
  out.open_flags = FOPEN_KEEP_CACHE;
  reply.add(out);
  return {};
}

Status TreeServer::open(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_open_in>();
  if (!how) return senseless();
  TRY(const Place place, nodes_.place_of(request.head.nodeid));
  TRY(os::Fd file, os::openat(place.directory, place.name.c_str(),
                              (static_cast<int>(how->flags) & kGuestFlags) | kOwnFlags));
  TRY_DO(check_regular(file));
  fuse_open_out out{};
  out.fh = keep(std::move(file), request.head.nodeid);
  out.open_flags = FOPEN_KEEP_CACHE;
  reply.add(out);
  return {};
}

Status TreeServer::read(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_read_in>();
  if (!how || how->size > kMostData) return senseless();
  TRY(const os::Fd* file, handle(how->fh));
  const std::span<std::byte> room = reply.room(how->size);
  std::size_t got = 0;
  while (got < room.size()) {
    const ssize_t part = ::pread(file->get(), room.data() + got, room.size() - got,
                                 static_cast<off_t>(how->offset + got));
    if (part < 0) return Error::from_errno("pread");
    if (part == 0) break;
    got += static_cast<std::size_t>(part);
  }
  reply.keep(got);
  return {};
}

Status TreeServer::write(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_write_in>();
  if (!how) return senseless();
  const std::span<const std::byte> bytes = request.body.rest();
  if (bytes.size() < how->size) return senseless();
  TRY(const os::Fd* file, handle(how->fh));
  fuse_write_out out{};
  while (out.size < how->size) {
    const ssize_t part = ::pwrite(file->get(), bytes.data() + out.size, how->size - out.size,
                                  static_cast<off_t>(how->offset + out.size));
    if (part < 0 && out.size > 0) break;
    if (part < 0) return Error::from_errno("pwrite");
    if (part == 0) break;
    out.size += static_cast<std::uint32_t>(part);
  }
  reply.add(out);
  return {};
}

Status TreeServer::release(Request& request) {
  const auto how = request.body.take<fuse_release_in>();
  if (!how) return senseless();
  handles_.erase(how->fh);
  return {};
}

Status TreeServer::synchronize(Request& request) {
  const auto how = request.body.take<fuse_fsync_in>();
  if (!how) return senseless();
  TRY(const os::Fd* file, handle(how->fh));
  const bool only_data = (how->fsync_flags & FUSE_FSYNC_FDATASYNC) != 0;
  if ((only_data ? ::fdatasync(file->get()) : ::fsync(file->get())) != 0) {
    return Error::from_errno("fsync");
  }
  return {};
}

Status TreeServer::allocate(Request& request) {
  const auto how = request.body.take<fuse_fallocate_in>();
  if (!how) return senseless();
  TRY(const os::Fd* file, handle(how->fh));
  if (::fallocate(file->get(), static_cast<int>(how->mode), static_cast<off_t>(how->offset),
                  static_cast<off_t>(how->length)) != 0) {
    return Error::from_errno("fallocate");
  }
  return {};
}

Status TreeServer::seek(Request& request, Reply& reply) {
  const auto how = request.body.take<fuse_lseek_in>();
  if (!how) return senseless();
  if (how->whence != SEEK_DATA && how->whence != SEEK_HOLE) return senseless();
  TRY(const os::Fd* file, handle(how->fh));
  const off_t at =
      ::lseek(file->get(), static_cast<off_t>(how->offset), static_cast<int>(how->whence));
  if (at < 0) return Error::from_errno("lseek");
  reply.add(fuse_lseek_out{.offset = static_cast<std::uint64_t>(at)});
  return {};
}

Status TreeServer::open_directory(Request& request, Reply& reply) {
  TRY(const Place place, nodes_.place_of(request.head.nodeid));
  TRY(os::Fd directory,
      os::openat(place.directory, place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  fuse_open_out out{};
  out.fh = keep(std::move(directory), request.head.nodeid);
  reply.add(out);
  return {};
}

// `exhausted` in words of the kernel's (ENOSPC): there is no room for it.
Status TreeServer::add_entry(NodeId parent, const os::Fd& directory, std::string_view name,
                             const fuse_dirent& entry, std::size_t most, Reply& reply) {
  const bool plus = parent != 0;
  const std::size_t head =
      plus ? sizeof(fuse_direntplus) : sizeof(fuse_dirent);  // both end where the name begins
  if (reply.size() + padded(head + name.size()) > most) return Error::from_errno("room", ENOSPC);
  if (plus) {
    fuse_entry_out known{};
    struct stat st{};
    const bool is_dot = name == "." || name == "..";
    if (!is_dot && is_name(name) &&
        ::fstatat(directory.get(), std::string{name}.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0) {
      TRY(known, entry_of(parent, name, st));
    }
    reply.add(known);
  }
  reply.add(entry);
  reply.add(std::as_bytes(std::span{name}));
  pad(reply);
  return {};
}

Status TreeServer::read_directory(Request& request, Reply& reply, bool with_entries) {
  const auto how = request.body.take<fuse_read_in>();
  if (!how || how->size > kMostData) return senseless();
  TRY(const os::Fd* directory, handle(how->fh));
  if (::lseek(directory->get(), static_cast<off_t>(how->offset), SEEK_SET) < 0) {
    return Error::from_errno("lseek");
  }
  alignas(8) std::array<std::byte, kEntryBytes> buffer{};
  for (;;) {
    const ssize_t got = ::getdents64(directory->get(), buffer.data(), buffer.size());
    if (got < 0) return Error::from_errno("getdents64");
    if (got == 0) return {};
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      KernelEntry one{};
      std::memcpy(&one, buffer.data() + at, kEntryName);
      const std::string_view name{reinterpret_cast<const char*>(buffer.data() + at + kEntryName)};
      fuse_dirent entry{};
      entry.ino = one.inode;
      entry.off = static_cast<std::uint64_t>(one.offset);
      entry.namelen = static_cast<std::uint32_t>(name.size());
      entry.type = one.type;
      const Status added = add_entry(with_entries ? request.head.nodeid : 0, *directory, name,
                                     entry, how->size, reply);
      if (!added) return added.error().cause().value() == ENOSPC ? Status{} : added;
      at += one.length;
    }
  }
}

}  // namespace cordon::files
