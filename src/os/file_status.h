// SPDX-License-Identifier: Apache-2.0
// What a directory entry is, asked without following it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

enum class FileType : std::uint8_t {
  regular,
  directory,
  symlink,
  character_device,
  block_device,
  fifo,
  socket,
};
std::string_view to_string(FileType type) noexcept;

using FileTime = std::chrono::sys_time<std::chrono::nanoseconds>;
// The nearest that can be held: a filesystem may tell any time, and who may write chooses it.
FileTime file_time(std::int64_t seconds, std::uint32_t nanoseconds) noexcept;

struct FileStatus {
  FileType type = FileType::regular;
  std::uint32_t mode = 0;  // permission, set-id and sticky bits; not the type
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t size = 0;
  std::uint64_t allocated = 0;  // bytes that it takes on the disk: holes take none
  std::uint64_t links = 1;      // names that it has
  std::uint64_t device = 0;     // with `inode` the file's identity
  std::uint64_t inode = 0;
  std::uint64_t device_number = 0;  // of a device; 0 is 0:0, which overlayfs uses for whiteouts
  FileTime changed;                 // it, or what is known of it
  FileTime modified;                // its bytes; who may write chooses it
  // When this inode was made; where the filesystem does not know it, `changed`, which is not
  // earlier.
  FileTime born;
};

// Of an open file; O_PATH will do.
Result<FileStatus> statx(const Fd& fd);
// Of an entry; a link is described, not followed. `name` may be a path: for one component only
// where others can write to the directories on the way.
Result<FileStatus> statx(const Fd& dir, const char* name);

}  // namespace cordon::os
