// SPDX-License-Identifier: Apache-2.0
#include "guest/tree_write.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/result.h"
#include "guest/file_time.h"
#include "guest/file_way.h"
#include "os/fd.h"
#include "os/file.h"

namespace cordon::guest {
namespace {

using frame::ArchiveEntry;
using frame::TreePiece;

constexpr mode_t kPermissionBits = 0777;
// Somebody else may make what we have just removed, over and over.
constexpr int kTries = 8;

mode_t mode_of(const ArchiveEntry& entry) { return entry.mode & kPermissionBits; }

// Asked first: of what has just been made a machine's kernel knows the mode, and each change that
// it passes on takes it a millisecond.
Status set_mode(const ArchiveEntry& entry, const os::Fd& object) {
  struct stat facts{};
  if (::fstat(object.get(), &facts) != 0) return Error::from_errno("fstat");
  if ((facts.st_mode & 07777U) == mode_of(entry)) return {};
  if (::fchmod(object.get(), mode_of(entry)) != 0) return Error::from_errno("fchmod");
  return {};
}

// Last, because a write would change the time again.
Status set_time(const ArchiveEntry& entry, const os::Fd& object) {
  const timespec times[2] = {{.tv_nsec = UTIME_OMIT}, time_of(entry.modified)};
  if (::futimens(object.get(), &times[0]) != 0) return Error::from_errno("futimens");
  return {};
}

Status write_at(const os::Fd& file, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("pwrite");
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::size_t>(count);
  }
  return {};
}

// Files of one directory come one after the other: it is looked up once.
class Writer {
 public:
  explicit Writer(FileWay way) : way_{std::move(way)} {}

  Status make(const TreePiece& piece, std::string_view bytes);

 private:
  struct Spot {
    int directory = -1;
    std::string name;
  };
  Result<Spot> spot(const std::string& path);
  // `act` again, once what is in its way is gone; never a directory.
  template <class Act>
  static Status replacing(const Spot& spot, const Act& act);

  Status make_file(const TreePiece& piece, std::string_view bytes);
  Status go_on(const TreePiece& piece, std::string_view bytes);
  Status make_directory(const ArchiveEntry& entry);
  Status make_link(const ArchiveEntry& entry);
  Status make_hard_link(const ArchiveEntry& entry);

  FileWay way_;
  std::string above_;  // whose directory this is
  os::Fd directory_;
};

Result<Writer::Spot> Writer::spot(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  std::string above = slash == std::string::npos ? std::string{} : path.substr(0, slash);
  std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (!directory_ || above != above_) {
    TRY(FileWay::Place place, way_.make_place("/" + path));
    directory_ = std::move(place.directory);
    above_ = std::move(above);
  }
  if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string::npos) {
    return Error::from_errno("name", EINVAL);
  }
  return Spot{directory_.get(), std::move(name)};
}

template <class Act>
Status Writer::replacing(const Spot& spot, const Act& act) {
  for (int tried = 0; tried < kTries; ++tried) {
    Status done = act();
    if (done || done.error().cause().value() != EEXIST) return done;
    if (::unlinkat(spot.directory, spot.name.c_str(), 0) != 0 && errno != ENOENT) {
      return Error::from_errno("unlinkat");
    }
  }
  return Error::from_errno("replace", EEXIST);
}

Status Writer::make_file(const TreePiece& piece, std::string_view bytes) {
  TRY(const Spot at, spot(piece.entry.path));
  os::Fd file;
  TRY_DO(replacing(at, [&]() -> Status {
    file = os::Fd{::openat(at.directory, at.name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           mode_of(piece.entry))};
    return file ? Status{} : Status{Error::from_errno("openat")};
  }));
  TRY_DO(set_mode(piece.entry, file));
  TRY_DO(write_at(file, bytes, 0));
  const auto size = static_cast<off_t>(piece.entry.size);
  if (piece.entry.size > bytes.size() && ::ftruncate(file.get(), size) != 0) {
    return Error::from_errno("ftruncate");
  }
  return set_time(piece.entry, file);
}

// O_NONBLOCK: a FIFO that stands there now is not waited for.
Status Writer::go_on(const TreePiece& piece, std::string_view bytes) {
  TRY(const Spot at, spot(piece.entry.path));
  const os::Fd file{::openat(at.directory, at.name.c_str(),
                             O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
  if (!file) return Error::from_errno("openat");
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return Error::from_errno("fstat");
  if (!S_ISREG(facts.st_mode)) return Error::from_errno("openat", EINVAL);
  TRY_DO(write_at(file, bytes, piece.offset));
  TRY_DO(set_mode(piece.entry, file));
  return set_time(piece.entry, file);
}

Status Writer::make_directory(const ArchiveEntry& entry) {
  TRY(const Spot at, spot(entry.path));
  if (::mkdirat(at.directory, at.name.c_str(), mode_of(entry)) != 0 && errno != EEXIST) {
    return Error::from_errno("mkdirat");
  }
  const os::Fd made{
      ::openat(at.directory, at.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!made) return Error::from_errno("openat");
  TRY_DO(set_mode(entry, made));
  return set_time(entry, made);
}

Status Writer::make_link(const ArchiveEntry& entry) {
  if (entry.target.find('\0') != std::string::npos) return Error::from_errno("target", EINVAL);
  TRY(const Spot at, spot(entry.path));
  TRY_DO(replacing(at, [&]() -> Status {
    const int made = ::symlinkat(entry.target.c_str(), at.directory, at.name.c_str());
    return made == 0 ? Status{} : Status{Error::from_errno("symlinkat")};
  }));
  const timespec times[2] = {{.tv_nsec = UTIME_OMIT}, time_of(entry.modified)};
  // Its time is worth nothing that a failure would be worth.
  static_cast<void>(::utimensat(at.directory, at.name.c_str(), &times[0], AT_SYMLINK_NOFOLLOW) !=
                    0);
  return {};
}

Status Writer::make_hard_link(const ArchiveEntry& entry) {
  TRY(const Spot at, spot(entry.path));
  TRY(const FileWay::Place from, way_.place("/" + entry.target));
  struct stat facts{};
  if (::fstatat(from.directory.get(), from.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("fstatat");
  }
  if (!S_ISREG(facts.st_mode)) return Error::from_errno("linkat", EINVAL);
  return replacing(at, [&]() -> Status {
    const int made =
        ::linkat(from.directory.get(), from.name.c_str(), at.directory, at.name.c_str(), 0);
    return made == 0 ? Status{} : Status{Error::from_errno("linkat")};
  });
}

Status Writer::make(const TreePiece& piece, std::string_view bytes) {
  switch (piece.entry.type) {
    case frame::ArchiveType::file:
      return piece.offset == 0 ? make_file(piece, bytes) : go_on(piece, bytes);
    case frame::ArchiveType::directory:
      return make_directory(piece.entry);
    case frame::ArchiveType::link:
      return make_link(piece.entry);
    case frame::ArchiveType::hard_link:
      return make_hard_link(piece.entry);
  }
  return Error::from_errno("type", EINVAL);
}

Result<Writer> writer_for(const frame::WriteTree& tree) {
  TRY(const FileWay way, FileWay::make(tree.beneath));
  TRY_DO(way.make_directories(tree.path));
  TRY(os::Fd top, way.open(tree.path, O_PATH | O_DIRECTORY));
  return Writer{FileWay::below(std::move(top))};
}

frame::FileReply failed(std::uint32_t request, const Error& error, std::string name = {}) {
  const int number = error.cause().value();
  return {.request = request, .error_number = number != 0 ? number : EIO, .bytes = std::move(name)};
}

}  // namespace

frame::FileReply write_tree(const frame::WriteTree& tree) {
  auto writer = writer_for(tree);
  if (!writer) return failed(tree.request, writer.error());
  std::string_view left{tree.bytes};
  for (const TreePiece& piece : tree.pieces) {
    if (piece.count > left.size()) {
      return failed(tree.request, Error::from_errno("bytes", EINVAL), piece.entry.path);
    }
    if (const Status made = writer->make(piece, left.substr(0, piece.count)); !made) {
      return failed(tree.request, made.error(), piece.entry.path);
    }
    left.remove_prefix(piece.count);
  }
  return {.request = tree.request};
}

}  // namespace cordon::guest
