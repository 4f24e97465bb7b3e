// SPDX-License-Identifier: Apache-2.0
#include "guest/file_act.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "base/result.h"
#include "guest/directory.h"
#include "os/fd.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

using frame::FileReply;
using frame::FileRequest;

// O_NONBLOCK: opening a FIFO must not wait for its other end. What it really is shows only now.
Result<os::Fd> open_regular(const std::string& path, int flags) {
  TRY(os::Fd file, os::openat(os::at_cwd(), path.c_str(), flags | O_NONBLOCK, 0644));
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return Error::from_errno("fstat");
  if (S_ISDIR(facts.st_mode)) return Error::from_errno("open", EISDIR);
  if (!S_ISREG(facts.st_mode)) return Error::from_errno("open", EINVAL);
  return file;
}

Status read(const FileRequest& request, FileReply& reply) {
  TRY(const os::Fd file, open_regular(request.path, O_RDONLY));
  reply.bytes.resize(std::min(request.count, kMostRead));
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

Status write(const FileRequest& request) {
  TRY(const os::Fd file, open_regular(request.path, O_WRONLY | O_CREAT));
  if (request.count == 1 && ::ftruncate(file.get(), 0) != 0) return Error::from_errno("ftruncate");
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

Status stat(const FileRequest& request, FileReply& reply) {
  const std::size_t slash = request.path.find_last_of('/');
  TRY(frame::FileEntry entry, describe(os::at_cwd(), request.path));
  entry.name = request.path.substr(slash + 1);
  reply.entries.push_back(std::move(entry));
  return {};
}

Status list(const FileRequest& request, FileReply& reply) {
  TRY(const os::Fd directory,
      os::openat(os::at_cwd(), request.path.c_str(), O_RDONLY | O_DIRECTORY));
  TRY(std::vector<std::string> names, names_in(directory));
  std::ranges::sort(names);
  auto name = std::ranges::upper_bound(names, request.bytes);
  std::size_t bytes = 0;
  for (; name != names.end() && reply.entries.size() < kMostEntries && bytes < kMostRead; ++name) {
    auto entry = describe(directory, *name);
    if (!entry) continue;  // it went away meanwhile
    bytes += entry->name.size() + entry->target.size();
    reply.entries.push_back(*std::move(entry));
  }
  reply.more = name != names.end();
  return {};
}

Status dispatch(const FileRequest& request, FileReply& reply) {
  const auto is_path = [](const std::string& path) {
    return path.starts_with('/') && path.find('\0') == std::string::npos;
  };
  if (!is_path(request.path)) return Error::from_errno("path", EINVAL);
  switch (request.act) {
    case frame::FileAct::read:
      return read(request, reply);
    case frame::FileAct::write:
      return write(request);
    case frame::FileAct::list:
      return list(request, reply);
    case frame::FileAct::stat:
      return stat(request, reply);
    case frame::FileAct::make_directory:
      if (::mkdir(request.path.c_str(), 0755) != 0) return Error::from_errno("mkdir");
      return {};
    case frame::FileAct::remove:
      return remove_tree(request.path);
    case frame::FileAct::rename:
      if (!is_path(request.bytes)) return Error::from_errno("path", EINVAL);
      if (::rename(request.path.c_str(), request.bytes.c_str()) != 0) {
        return Error::from_errno("rename");
      }
      return {};
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
