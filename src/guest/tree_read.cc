// SPDX-License-Identifier: Apache-2.0
#include "guest/tree_read.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/result.h"
#include "guest/directory.h"
#include "guest/file_way.h"
#include "os/fd.h"

namespace cordon::guest {
namespace {

using frame::FileEntry;
using frame::FileReply;
using frame::FileType;

// Each level holds a descriptor.
constexpr std::size_t kDeepest = 200;
// Of an entry beside its name and its contents.
constexpr std::size_t kEntry = 64;

// Went away between the list and the look: as if it had never been there.
bool is_gone(const Error& error) { return error.cause().value() == ENOENT; }

Result<os::Fd> open_entry(const os::Fd& directory, const std::string& name, int flags) {
  os::Fd opened{::openat(directory.get(), name.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags)};
  if (!opened) return Error::from_errno("openat");
  return opened;
}

// At most `most` bytes from `offset` on; fewer at the end of the file.
Status append(std::string& bytes, const os::Fd& file, std::uint64_t offset, std::size_t most) {
  const std::size_t had = bytes.size();
  bytes.resize(had + most);
  std::size_t done = 0;
  while (done < most) {
    const ssize_t count = ::pread(file.get(), bytes.data() + had + done, most - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("pread");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(had + done);
  return {};
}

// Walks until the reply is full. What it stumbles over is kept by name.
class Walk {
 public:
  explicit Walk(FileReply& reply) : reply_{reply} {}

  Status directory(const os::Fd& directory, const std::string& prefix, std::string_view after,
                   std::size_t depth);
  Status file(const os::Fd& file, const std::string& path);
  const std::string& at() const { return at_; }

 private:
  Status entry(const os::Fd& directory, const std::string& name, const std::string& path,
               std::size_t depth);
  Status enter(const os::Fd& above, const std::string& name, const std::string& path,
               std::string_view after, std::size_t depth);
  void tell(FileEntry entry, const std::string& path);
  bool is_full() const {
    return reply_.entries.size() >= frame::kMostTreePieces || used_ >= frame::kMostTreeBytes;
  }

  FileReply& reply_;
  std::size_t used_ = 0;
  std::string at_;
};

void Walk::tell(FileEntry entry, const std::string& path) {
  used_ += kEntry + path.size() + entry.target.size();
  entry.name = path;
  reply_.entries.push_back(std::move(entry));
}

Status Walk::file(const os::Fd& file, const std::string& path) {
  at_ = path;
  TRY(FileEntry facts, describe(file));
  if (facts.type != FileType::file) return {};  // swapped meanwhile
  const std::size_t room = frame::kMostTreeBytes - std::min(used_, frame::kMostTreeBytes);
  // Where it does not fit it is the first of the next act, or alone in this one.
  if (facts.size > room && !reply_.entries.empty()) {
    reply_.more = true;
    return {};
  }
  const std::size_t most = std::min<std::uint64_t>(facts.size, room);
  const std::size_t had = reply_.bytes.size();
  TRY_DO(append(reply_.bytes, file, 0, most));
  const std::size_t got = reply_.bytes.size() - had;
  // Cut short meanwhile: it has the size that was read.
  if (got < most) facts.size = got;
  used_ += got;
  tell(std::move(facts), path);
  if (got < reply_.entries.back().size) reply_.more = true;
  return {};
}

Status Walk::enter(const os::Fd& above, const std::string& name, const std::string& path,
                   std::string_view after, std::size_t depth) {
  at_ = path;
  if (depth >= kDeepest) return Error::from_errno("depth", ENAMETOOLONG);
  auto below = open_entry(above, name, O_DIRECTORY);
  if (!below) return is_gone(below.error()) ? Status{} : Status{std::move(below).error()};
  return directory(*below, path + "/", after, depth + 1);
}

Status Walk::entry(const os::Fd& directory, const std::string& name, const std::string& path,
                   std::size_t depth) {
  at_ = path;
  if (path.size() > frame::kLongestArchivePath) return Error::from_errno("path", ENAMETOOLONG);
  auto facts = describe(directory, name);
  if (!facts) return is_gone(facts.error()) ? Status{} : Status{std::move(facts).error()};
  switch (facts->type) {
    case FileType::file: {
      auto opened = open_entry(directory, name, 0);
      if (!opened) return is_gone(opened.error()) ? Status{} : Status{std::move(opened).error()};
      return file(*opened, path);
    }
    case FileType::directory:
      facts->size = 0;
      tell(*std::move(facts), path);
      return enter(directory, name, path, {}, depth);
    case FileType::link:
      facts->size = 0;
      tell(*std::move(facts), path);
      return {};
    case FileType::other:
      break;
  }
  return {};
}

// `after`: the way to the last entry that was told, below here; empty: none was.
Status Walk::directory(const os::Fd& directory, const std::string& prefix, std::string_view after,
                       std::size_t depth) {
  TRY(std::vector<std::string> names, names_in(directory));
  std::ranges::sort(names);
  const std::string_view first = after.substr(0, after.find('/'));
  after.remove_prefix(std::min(first.size() + 1, after.size()));
  for (const std::string& name : names) {
    if (reply_.more) return {};
    if (!first.empty() && name < first) continue;
    if (is_full()) {
      reply_.more = true;
      return {};
    }
    if (name != first) {
      TRY_DO(entry(directory, name, prefix + name, depth));
      continue;
    }
    const auto facts = describe(directory, name);
    if (facts && facts->type == FileType::directory) {
      TRY_DO(enter(directory, name, prefix + name, after, depth));
    }
  }
  return {};
}

std::string name_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The file that was told last, from an offset on.
Status go_on(const frame::ReadTree& tree, const os::Fd& top, bool is_file, FileReply& reply) {
  os::Fd below;
  if (!is_file) {
    TRY(os::Fd again, open_entry(top, ".", O_DIRECTORY));
    const FileWay way = FileWay::below(std::move(again));
    TRY(below, way.open("/" + tree.after, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  }
  const os::Fd& file = is_file ? top : below;
  TRY(const FileEntry facts, describe(file));
  if (facts.type != FileType::file) return Error::from_errno("open", EINVAL);
  return append(reply.bytes, file, tree.offset, frame::kMostTreeBytes);
}

Status read_into(const frame::ReadTree& tree, FileReply& reply, std::string& at) {
  TRY(const FileWay way, FileWay::make(tree.beneath));
  // What is neither is not opened for reading: a device may act on that alone.
  TRY(const os::Fd seen, way.open(tree.path, O_PATH));
  TRY(const FileEntry facts, describe(seen));
  if (facts.type != FileType::file && facts.type != FileType::directory) {
    return Error::from_errno("open", EINVAL);
  }
  TRY(const os::Fd top, way.open(tree.path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  TRY(const FileEntry opened, describe(top));
  const bool is_file = opened.type == FileType::file;
  if (!is_file && opened.type != FileType::directory) return Error::from_errno("open", EINVAL);
  if (tree.offset != 0) return go_on(tree, top, is_file, reply);
  Walk walk{reply};
  Status walked;
  if (!is_file) {
    walked = walk.directory(top, {}, tree.after, 0);
  } else if (tree.after.empty()) {
    walked = walk.file(top, name_of(tree.path));
  }
  at = walk.at();
  return walked;
}

}  // namespace

FileReply read_tree(const frame::ReadTree& tree) {
  FileReply reply{.request = tree.request};
  std::string at;
  const Status read = read_into(tree, reply, at);
  if (read) return reply;
  const int number = read.error().cause().value();
  return {
      .request = tree.request, .error_number = number != 0 ? number : EIO, .bytes = std::move(at)};
}

}  // namespace cordon::guest
