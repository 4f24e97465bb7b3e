// SPDX-License-Identifier: Apache-2.0
// The *at calls, each with the name it failed on.
#include "os/directory.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace cordon::os {
namespace {

// What getdents64 writes: the C library keeps its spelling to itself in some versions.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
};
constexpr std::size_t kNameOffset = 19;  // behind the three integers and the type, unpadded

Status finished(int result, const char* call, const char* name) {
  if (result == 0) return {};
  return Error::from_errno(call).with(name);
}

// Appends the names of one buffer.
void take_names(std::string_view buffer, std::vector<std::string>& names) {
  while (!buffer.empty()) {
    DirectoryEntry entry{};
    std::memcpy(&entry, buffer.data(), kNameOffset);
    const std::string_view name{buffer.data() + kNameOffset};
    if (name != "." && name != "..") names.emplace_back(name);
    buffer.remove_prefix(entry.length);
  }
}

}  // namespace

Result<std::vector<std::string>> list_some(const Fd& dir, std::size_t most) {
  if (::lseek(dir.get(), 0, SEEK_SET) < 0) return Error::from_errno("lseek");
  std::vector<std::string> names;
  std::array<char, 32768> buffer{};
  while (names.size() < most) {
    const long got = ::syscall(SYS_getdents64, dir.get(), buffer.data(), buffer.size());
    if (got < 0) return Error::from_errno("getdents64");
    if (got == 0) break;
    take_names({buffer.data(), static_cast<std::size_t>(got)}, names);
  }
  if (names.size() > most) names.resize(most);
  return names;
}

Result<std::vector<std::string>> list_directory(const Fd& dir, std::size_t most) {
  TRY(auto names, list_some(dir, most + 1));
  if (names.size() > most) {
    return Error{Errc::exhausted, "directory: more than " + std::to_string(most) + " entries"};
  }
  return names;
}

Status mkdirat(const Fd& dir, const char* name, std::uint32_t mode) {
  return finished(::mkdirat(dir.get(), name, mode), "mkdirat", name);
}

Status symlinkat(const char* target, const Fd& dir, const char* name) {
  return finished(::symlinkat(target, dir.get(), name), "symlinkat", name);
}

Result<std::string> readlinkat(const Fd& dir, const char* name) {
  std::string target(PATH_MAX, '\0');
  const ssize_t got = ::readlinkat(dir.get(), name, target.data(), target.size());
  if (got < 0) return Error::from_errno("readlinkat").with(name);
  target.resize(static_cast<std::size_t>(got));
  return target;
}

Status linkat(const Fd& from, const char* old_name, const Fd& to, const char* new_name) {
  return finished(::linkat(from.get(), old_name, to.get(), new_name, 0), "linkat", new_name);
}

Status unlinkat(const Fd& dir, const char* name) {
  return finished(::unlinkat(dir.get(), name, 0), "unlinkat", name);
}

Status rmdirat(const Fd& dir, const char* name) {
  return finished(::unlinkat(dir.get(), name, AT_REMOVEDIR), "rmdir", name);
}

Status renameat(const Fd& from, const char* old_name, const Fd& to, const char* new_name,
                Replace replace) {
  const unsigned flags = replace == Replace::refuse ? RENAME_NOREPLACE : 0;
  return finished(::renameat2(from.get(), old_name, to.get(), new_name, flags), "renameat2",
                  old_name);
}

Status fchmod(const Fd& fd, std::uint32_t mode) {
  // fchmod(2) refuses O_PATH descriptors; the magic link leads to the same open file.
  if (::chmod(proc_path(fd).c_str(), mode) != 0) return Error::from_errno("chmod");
  return {};
}

Status fchown(const Fd& fd, std::uint32_t uid, std::uint32_t gid) {
  if (::fchownat(fd.get(), "", uid, gid, AT_EMPTY_PATH) != 0) return Error::from_errno("fchownat");
  return {};
}

Status fchownat(const Fd& dir, const char* name, std::uint32_t uid, std::uint32_t gid) {
  return finished(::fchownat(dir.get(), name, uid, gid, AT_SYMLINK_NOFOLLOW), "fchownat", name);
}

namespace {

std::array<timespec, 2> times_of(std::uint64_t when) {
  constexpr std::uint64_t kNano = 1'000'000'000;
  const timespec time{.tv_sec = static_cast<time_t>(when / kNano),
                      .tv_nsec = static_cast<long>(when % kNano)};
  return {time, time};
}

}  // namespace

Status set_modified(const Fd& dir, const char* name, std::uint64_t when) {
  const auto times = times_of(when);
  return finished(::utimensat(dir.get(), name, times.data(), AT_SYMLINK_NOFOLLOW), "utimensat",
                  name);
}

Status set_modified(const Fd& file, std::uint64_t when) {
  const auto times = times_of(when);
  if (::futimens(file.get(), times.data()) != 0) return Error::from_errno("futimens");
  return {};
}

Status syncfs(const Fd& fd) {
  if (::syncfs(fd.get()) != 0) return Error::from_errno("syncfs");
  return {};
}

}  // namespace cordon::os
