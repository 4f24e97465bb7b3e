// SPDX-License-Identifier: Apache-2.0
#include "guest/directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <dirent.h>
#include <limits>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "os/file.h"

namespace cordon::guest {
namespace {

frame::FileType type_of(mode_t mode) {
  if (S_ISREG(mode)) return frame::FileType::file;
  if (S_ISDIR(mode)) return frame::FileType::directory;
  if (S_ISLNK(mode)) return frame::FileType::link;
  return frame::FileType::other;
}

// A directory that is being emptied.
struct Level {
  os::Fd directory;
  std::string name;  // in the level above
  std::vector<std::string> left;
};

Result<Level> enter(const os::Fd& above, std::string name) {
  TRY(os::Fd directory, os::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TRY(auto names, names_in(directory));
  return Level{std::move(directory), std::move(name), std::move(names)};
}

// True: gone. False: a directory, to be emptied first.
Result<bool> unlink(const os::Fd& directory, const std::string& name) {
  if (::unlinkat(directory.get(), name.c_str(), 0) == 0 || errno == ENOENT) return true;
  if (errno != EISDIR && errno != EPERM) return Error::from_errno("unlinkat");
  const int error_number = errno;
  struct stat facts{};
  if (::fstatat(directory.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_errno("fstatat");
  }
  if (!S_ISDIR(facts.st_mode)) return Error::from_errno("unlinkat", error_number);
  return false;
}

// The nearest that can be held: who owns a file gives it any time.
std::uint64_t since_1970(const timespec& time) {
  constexpr std::int64_t kLast = (std::numeric_limits<std::uint64_t>::max() / 1'000'000'000U) - 1;
  const auto seconds = std::clamp<std::int64_t>(time.tv_sec, 0, kLast);
  return static_cast<std::uint64_t>(seconds) * 1'000'000'000U +
         (seconds == time.tv_sec ? static_cast<std::uint64_t>(time.tv_nsec) : 0U);
}

}  // namespace

Result<frame::FileEntry> describe(const os::Fd& directory, const std::string& name) {
  struct stat facts{};
  const int flags = AT_SYMLINK_NOFOLLOW | (name.empty() ? AT_EMPTY_PATH : 0);
  if (::fstatat(directory.get(), name.c_str(), &facts, flags) != 0) {
    return Error::from_errno("fstatat");
  }
  frame::FileEntry entry{.name = name,
                         .type = type_of(facts.st_mode),
                         .size = static_cast<std::uint64_t>(facts.st_size),
                         .mode = facts.st_mode & 07777U,
                         .modified = since_1970(facts.st_mtim),
                         .user = facts.st_uid,
                         .group = facts.st_gid,
                         .inode = facts.st_ino};
  if (entry.type == frame::FileType::link) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length =
        ::readlinkat(directory.get(), name.c_str(), target.data(), target.size());
    if (length > 0) entry.target.assign(target.data(), static_cast<std::size_t>(length));
  }
  return entry;
}

Result<frame::FileEntry> describe(const os::Fd& object) { return describe(object, {}); }

Result<std::vector<std::string>> names_in(const os::Fd& directory) {
  TRY(os::Fd copy, os::duplicate(directory));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream{::fdopendir(copy.get()), &::closedir};
  if (!stream) return Error::from_errno("fdopendir");
  static_cast<void>(copy.release());  // the stream's now
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name{&entry->d_name[0]};
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return Error::from_errno("readdir");
  return names;
}

Status remove_entry(const os::Fd& directory, const std::string& name) {
  TRY_DO(describe(directory, name));  // not there: that is for who asks to know
  TRY(const bool gone, unlink(directory, name));
  if (gone || ::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) == 0) return {};
  return Error::from_errno("unlinkat");
}

Result<bool> remove_tree(const os::Fd& directory, const std::string& name, std::size_t most) {
  TRY_DO(describe(directory, name));
  TRY(const bool gone, unlink(directory, name));
  if (gone) return false;
  std::vector<Level> levels;
  TRY(Level top, enter(directory, name));
  levels.push_back(std::move(top));
  for (std::size_t removed = 0; !levels.empty(); ++removed) {
    if (removed == most) return true;
    Level& level = levels.back();
    if (!level.left.empty()) {
      std::string entry = std::move(level.left.back());
      level.left.pop_back();
      TRY(const bool went, unlink(level.directory, entry));
      if (went) continue;
      TRY(Level below, enter(level.directory, std::move(entry)));
      levels.push_back(std::move(below));
      continue;
    }
    const std::string emptied = std::move(level.name);
    levels.pop_back();
    const int above = levels.empty() ? directory.get() : levels.back().directory.get();
    if (::unlinkat(above, emptied.c_str(), AT_REMOVEDIR) != 0) return Error::from_errno("unlinkat");
  }
  return false;
}

}  // namespace cordon::guest
