// SPDX-License-Identifier: Apache-2.0
// mke2fs on an empty file of our own, until the size is exact.
#include "launcher/disk_template.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "launcher/floor.h"
#include "os/directory.h"
#include "os/file.h"
#include "os/memfd.h"
#include "os/process.h"

namespace cordon::launcher {
namespace {

constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kInode = 256;
constexpr std::uint64_t kGroup = kBlock * 8 * kBlock;  // bytes that one block of bits describes
constexpr int kMostPasses = 4;
constexpr int kLongestFormat = 10'000;  // milliseconds
// They cost a few hundred KiB each and some milliseconds to make again.
constexpr std::size_t kMostTemplates = 32;
constexpr std::array kPrograms = {"/usr/sbin/mke2fs", "/sbin/mke2fs"};

// Whoever wrote there could choose what the kernel mounts.
Result<os::Fd> own_directory(const char* path) {
  if (::mkdir(path, 0700) != 0 && errno != EEXIST) return Error::from_errno("mkdir").with(path);
  TRY(os::Fd dir, os::openat(os::at_cwd(), path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  struct stat st{};
  if (::fstat(dir.get(), &st) != 0) return Error::from_errno("fstat").with(path);
  if (st.st_uid != 0 || (st.st_mode & 022U) != 0) {
    return Error{Errc::denied, std::string{path} + " belongs to somebody else: remove it"};
  }
  return dir;
}

// The version says how templates are made: what another version made is not taken.
std::string name_of(const frame::Disk& disk) {
  return fmt::format("ext4-1-{}-{}", disk.bytes, disk.inodes);
}

Result<os::Fd> open_made(const os::Fd& disks, const std::string& name) {
  TRY(os::Fd file, os::openat(disks, name.c_str(), O_RDONLY | O_NOFOLLOW));
  struct stat st{};
  if (::fstat(file.get(), &st) != 0) return Error::from_errno("fstat").with(name);
  if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 0777U) != 0400) {
    return Error{Errc::denied, fmt::format("{}/{} is not ours: remove it", kDisks, name)};
  }
  return file;
}

constexpr const char* kFeatures =
    "none,extents,flex_bg,metadata_csum,sparse_super,large_file,huge_file,dir_nlink,extra_isize,"
    "filetype,dir_index,64bit";

// It must know the names of sizes, of which none means anything here.
constexpr std::string_view kSettings = R"([fs_types]
floppy = {
}
small = {
}
big = {
}
huge = {
}
)";

// Nothing of the host's configuration decides what is made. No journal: the disk ends with its
// sandbox, and nobody reads it after a crash.
std::vector<std::string> format_words(const frame::Disk& disk) {
  return {"mke2fs",
          "-q",
          "-F",
          "-b",
          std::to_string(kBlock),
          "-I",
          std::to_string(kInode),
          "-m",
          "0",
          "-N",
          std::to_string(disk.inodes),
          "-O",
          kFeatures,
          "-E",
          "lazy_itable_init=1,nodiscard,root_owner=0:0",
          "/proc/self/fd/3"};
}

// Nothing that it says may reach the caller's streams.
int be_mke2fs(const char* program, const os::Fd& file, const os::Fd& settings,
              const frame::Disk& disk) {
  const auto null = os::openat(os::at_cwd(), "/dev/null", O_RDWR);
  if (!null) return 1;
  // Out of the way first: any of them may stand where another has to go.
  constexpr int kAbove = 64;
  const int disk_file = ::fcntl(file.get(), F_DUPFD, kAbove);
  const int settings_file = ::fcntl(settings.get(), F_DUPFD, kAbove);
  for (const int standard : {0, 1, 2}) {
    if (::dup2(null->get(), standard) != standard) return 1;
  }
  if (::dup2(disk_file, 3) != 3 || ::dup2(settings_file, 4) != 4) return 1;
  if (!os::set_cloexec_from(5)) return 1;
  const std::array<std::string, 2> environment{"MKE2FS_CONFIG=/proc/self/fd/4", "LC_ALL=C"};
  static_cast<void>(os::execve(program, format_words(disk), environment));
  return 1;
}

Status format(const os::Fd& file, const frame::Disk& disk) {
  for (const char* program : kPrograms) {
    if (::access(program, X_OK) != 0) continue;
    TRY(const os::Fd settings, os::sealed_memfd("mke2fs.conf", as_bytes(kSettings)));
    TRY(os::Child child, os::Child::start({.clear_signal_handlers = true}, [&] {
          return be_mke2fs(program, file, settings, disk);
        }));
    pollfd end{.fd = child.pidfd().get(), .events = POLLIN, .revents = 0};
    if (::poll(&end, 1, kLongestFormat) != 1) {
      return Error{Errc::timeout, "mke2fs did not end in time"};
    }
    TRY(const os::ExitStatus status, std::move(child).wait());
    if (status.kind == os::ExitStatus::Kind::exited && status.value == 0) return {};
    return Error{Errc::internal, fmt::format("mke2fs ended with {}", status.value)};
  }
  return Error{Errc::unavailable, "there is no mke2fs: install e2fsprogs"};
}

template <class Integer>
Result<Integer> read_at(const os::Fd& file, off_t at) {
  Integer value{};
  if (::pread(file.get(), &value, sizeof value, at) != sizeof value) {
    return Error{Errc::internal, "a file system without a super block"};
  }
  return value;
}

// What the kernel will show as the size of the disk: all blocks without those of its tables.
Result<std::uint64_t> room_in(const os::Fd& file) {
  constexpr off_t kSuperBlock = 1024;
  TRY(const auto low, read_at<std::uint32_t>(file, kSuperBlock + 0x4));
  TRY(const auto high, read_at<std::uint32_t>(file, kSuperBlock + 0x150));
  TRY(const auto tables, read_at<std::uint32_t>(file, kSuperBlock + 0x248));
  return ((std::uint64_t{high} << 32U | low) - tables) * kBlock;
}

std::uint64_t in_blocks(std::uint64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

// What ext4 keeps back for its own changes, and lets no file have.
std::uint64_t kept_back(std::uint64_t size) {
  constexpr std::uint64_t kMostKept = 4096;  // blocks
  return std::min(size / kBlock / 50, kMostKept) * kBlock;
}

// The tables' size depends on the file's, so that the right one is found by trying: the first guess
// is off by a few blocks, the second nearly always right.
Status make(const os::Fd& file, const frame::Disk& disk) {
  const std::uint64_t wanted = in_blocks(disk.bytes);
  std::uint64_t size = in_blocks(wanted + kept_back(wanted) + disk.inodes * kInode +
                                 (wanted / kGroup + 1) * 2 * kBlock + 16 * kBlock);
  for (int pass = 0; pass < kMostPasses; ++pass) {
    if (::ftruncate(file.get(), 0) != 0 || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0) {
      return Error::from_errno("ftruncate");
    }
    TRY_DO(format(file, disk));
    TRY(const std::uint64_t room, room_in(file));
    const std::uint64_t free = room - kept_back(size);
    if (free == wanted) return {};
    size += wanted - free;  // of unsigned numbers: may also make it smaller
  }
  return {};  // off by a block or so: the kernel's own count is what a verdict tells
}

void forget_all(const os::Fd& disks) {
  const auto names = os::list_some(disks, 10 * kMostTemplates);
  if (!names || names->size() < kMostTemplates) return;
  for (const std::string& name : *names) static_cast<void>(os::unlinkat(disks, name.c_str()));
}

}  // namespace

Result<os::Fd> open_disks() {
  TRY_DO(own_directory("/var/lib/cordon"));
  return own_directory(kDisks);
}

Result<os::Fd> open_template(const os::Fd& disks, const frame::Disk& disk) {
  const std::string name = name_of(disk);
  auto made = open_made(disks, name);
  if (made || made.error().code() != Errc::not_found) return made;
  forget_all(disks);
  TRY(os::Fd file, os::openat(disks, ".", O_TMPFILE | O_RDWR, 0400));
  Status formatted = make(file, disk);
  if (!formatted) return std::move(formatted).error().with("a file system for the disk");
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  if (::linkat(AT_FDCWD, path.c_str(), disks.get(), name.c_str(), AT_SYMLINK_FOLLOW) != 0 &&
      errno != EEXIST) {
    return Error::from_errno("linkat").with(name);
  }
  return file;  // the name may be forgotten again by now
}

}  // namespace cordon::launcher
