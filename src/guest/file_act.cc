// SPDX-License-Identifier: Apache-2.0
#include "guest/file_act.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "base/result.h"
#include "guest/directory.h"
#include "guest/file_time.h"
#include "guest/file_way.h"
#include "os/fd.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

using frame::FileReply;
using frame::FileRequest;

constexpr mode_t kEveryModeBit = 07777;

// O_NONBLOCK: opening a FIFO must not wait for its other end. What it really is shows only now.
Result<os::Fd> open_regular(const FileWay& way, const std::string& path, int flags) {
  TRY(os::Fd file, way.open(path, flags | O_NONBLOCK, 0644));
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return Error::from_errno("fstat");
  if (S_ISDIR(facts.st_mode)) return Error::from_errno("open", EISDIR);
  if (!S_ISREG(facts.st_mode)) return Error::from_errno("open", EINVAL);
  return file;
}

// Last, because a write would change the time again.
Status settle(const FileRequest& request, const os::Fd& file) {
  if (request.mode && ::fchmod(file.get(), *request.mode & kEveryModeBit) != 0) {
    return Error::from_errno("fchmod");
  }
  if (!request.modified) return {};
  const timespec times[2] = {{.tv_nsec = UTIME_OMIT}, time_of(*request.modified)};
  if (::futimens(file.get(), &times[0]) != 0) return Error::from_errno("futimens");
  return {};
}

Status read(const FileWay& way, const FileRequest& request, FileReply& reply) {
  TRY(const os::Fd file, open_regular(way, request.path, O_RDONLY));
  TRY(frame::FileEntry entry, describe(file));
  reply.entries.push_back(std::move(entry));
  reply.bytes.resize(std::min(request.count, frame::kMostFileBytes));
  std::size_t done = 0;
  while (done < reply.bytes.size()) {
    const ssize_t count = ::pread(file.get(), reply.bytes.data() + done, reply.bytes.size() - done,
                                  static_cast<off_t>(request.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("pread");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  reply.bytes.resize(done);
  return {};
}

Status write_bytes(const FileRequest& request, const os::Fd& file) {
  std::size_t done = 0;
  while (done < request.bytes.size()) {
    const ssize_t count =
        ::pwrite(file.get(), request.bytes.data() + done, request.bytes.size() - done,
                 static_cast<off_t>(request.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("pwrite");
    done += static_cast<std::size_t>(count);
  }
  return {};
}

Status write(const FileWay& way, const FileRequest& request, FileReply& reply) {
  const int flags = O_WRONLY | O_CREAT | (request.exclusive ? O_EXCL : 0);
  auto file = open_regular(way, request.path, flags);
  if (!file && request.parents && file.error().cause().value() == ENOENT) {
    TRY_DO(way.make_place(request.path));
    file = open_regular(way, request.path, flags);
  }
  if (!file) return std::move(file).error();
  if (request.count == 1 && ::ftruncate(file->get(), 0) != 0) return Error::from_errno("ftruncate");
  TRY_DO(write_bytes(request, *file));
  TRY_DO(settle(request, *file));
  TRY(frame::FileEntry entry, describe(*file));
  reply.entries.push_back(std::move(entry));
  return {};
}

Status stat(const FileWay& way, const FileRequest& request, FileReply& reply) {
  TRY(const os::Fd object, way.open(request.path, O_PATH | (request.follow ? 0 : O_NOFOLLOW)));
  TRY(frame::FileEntry entry, describe(object));
  entry.name = request.path.substr(request.path.find_last_of('/') + 1);
  reply.entries.push_back(std::move(entry));
  return {};
}

Status list(const FileWay& way, const FileRequest& request, FileReply& reply) {
  TRY(const os::Fd directory, way.open(request.path, O_RDONLY | O_DIRECTORY));
  TRY(std::vector<std::string> names, names_in(directory));
  std::ranges::sort(names);
  auto name = std::ranges::upper_bound(names, request.bytes);
  std::size_t bytes = 0;
  for (; name != names.end() && reply.entries.size() < frame::kMostListed &&
         bytes < frame::kMostFileBytes;
       ++name) {
    auto entry = describe(directory, *name);
    if (!entry) continue;  // it went away meanwhile
    bytes += entry->name.size() + entry->target.size();
    reply.entries.push_back(*std::move(entry));
  }
  reply.more = name != names.end();
  return {};
}

Status make_directory(const FileWay& way, const FileRequest& request) {
  if (request.parents) {
    TRY_DO(way.make_directories(request.path));
  } else {
    TRY(const FileWay::Place place, way.place(request.path));
    if (::mkdirat(place.directory.get(), place.name.c_str(), 0755) != 0) {
      return Error::from_errno("mkdirat");
    }
  }
  if (!request.mode && !request.modified) return {};
  TRY(const os::Fd made, way.open(request.path, O_RDONLY | O_DIRECTORY));
  return settle(request, made);
}

Status remove(const FileWay& way, const FileRequest& request, FileReply& reply) {
  TRY(const FileWay::Place place, way.place(request.path));
  if (request.count == 1) return remove_entry(place.directory, place.name);
  TRY(reply.more, remove_tree(place.directory, place.name, frame::kMostRemoved));
  return {};
}

Status rename(const FileWay& way, const FileRequest& request) {
  TRY(const FileWay::Place from, way.place(request.path));
  TRY(const FileWay::Place to,
      request.parents ? way.make_place(request.bytes) : way.place(request.bytes));
  if (::renameat2(from.directory.get(), from.name.c_str(), to.directory.get(), to.name.c_str(),
                  request.exclusive ? RENAME_NOREPLACE : 0) != 0) {
    return Error::from_errno("renameat2");
  }
  return {};
}

Status make_link(const FileWay& way, const FileRequest& request) {
  if (request.bytes.find('\0') != std::string::npos) return Error::from_errno("target", EINVAL);
  TRY(const FileWay::Place place,
      request.parents ? way.make_place(request.path) : way.place(request.path));
  if (::symlinkat(request.bytes.c_str(), place.directory.get(), place.name.c_str()) != 0) {
    return Error::from_errno("symlinkat");
  }
  return {};
}

// A file that may not be read, a FIFO: they have a mode and a time like others, and are reached
// without being opened.
Status change(const FileWay& way, const FileRequest& request) {
  TRY(const FileWay::Place place, way.place(request.path));
  const int at = place.directory.get();
  const char* const name = place.name.c_str();
  if (request.mode &&
      ::fchmodat(at, name, *request.mode & kEveryModeBit, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("fchmodat");
  }
  if (!request.modified) return {};
  const timespec times[2] = {{.tv_nsec = UTIME_OMIT}, time_of(*request.modified)};
  if (::utimensat(at, name, &times[0], AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("utimensat");
  }
  return {};
}

Status dispatch(const FileRequest& request, FileReply& reply) {
  TRY(const FileWay way, FileWay::make(request.beneath));
  switch (request.act) {
    case frame::FileAct::read:
      return read(way, request, reply);
    case frame::FileAct::write:
      return write(way, request, reply);
    case frame::FileAct::list:
      return list(way, request, reply);
    case frame::FileAct::stat:
      return stat(way, request, reply);
    case frame::FileAct::make_directory:
      return make_directory(way, request);
    case frame::FileAct::remove:
      return remove(way, request, reply);
    case frame::FileAct::rename:
      return rename(way, request);
    case frame::FileAct::make_link:
      return make_link(way, request);
    case frame::FileAct::change:
      return change(way, request);
  }
  return Error::from_errno("act", EINVAL);
}

}  // namespace

FileReply act(const FileRequest& request) {
  FileReply reply{.request = request.request};
  const Status done = dispatch(request, reply);
  if (done) return reply;
  const int number = done.error().cause().value();
  return {.request = request.request, .error_number = number != 0 ? number : EIO};
}

}  // namespace cordon::guest
