// SPDX-License-Identifier: Apache-2.0
// The guest protocol's part about files: what the host asks of them, and what it is answered.
//
// Done by a child of the spawner, with the workload's rights and behind its fences; paths are
// resolved inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame/fields.h"

namespace cordon::frame {

// Requests under way at once; more are answered EAGAIN.
inline constexpr std::size_t kMostFileActs = 8;
// Bytes that one read brings, or one write takes; a file is moved in as many as it needs.
inline constexpr std::uint32_t kMostFileBytes = std::uint32_t{1} << 20U;
// Entries that one list brings.
inline constexpr std::size_t kMostListed = 1000;
// Entries that one remove takes away; then it says `more`, and is asked again.
inline constexpr std::size_t kMostRemoved = 50'000;

enum class FileAct : std::uint8_t {
  read,   // `offset`, `count`
  write,  // `bytes` at `offset`; `count` 1: truncate first; made where absent, mode 0644
  list,   // entries of a directory, after the name in `bytes` (paging)
  stat,   // of a link itself, or with `follow` of what it leads to
  make_directory,
  remove,     // a file, or a directory with all below it; `count` 1: only an empty directory
  rename,     // to the path in `bytes`
  make_link,  // a symbolic link at `path`, to the text in `bytes`
  change,     // `mode` and `modified` of what is there; a link itself has no mode
};
constexpr FileAct last_of(FileAct) noexcept { return FileAct::change; }

struct FileRequest {
  std::uint32_t request = 0;
  FileAct act = FileAct::stat;
  std::string path;  // absolute, inside; links are followed as the workload would
  std::uint64_t offset = 0;
  std::uint32_t count = 0;
  std::string bytes;
  // A directory, absolute, inside: no path of the request leads out of it, by whichever link, at
  // the moment of the act. There is no link in it itself, as it is written here. What would leave
  // it is answered EXDEV; ENOSYS where the kernel, or the workload's filter, has no openat2. Empty:
  // anywhere.
  std::string beneath;
  std::optional<std::uint32_t> mode;      // permission bits that it has afterwards
  std::optional<std::uint64_t> modified;  // nanoseconds since 1970: its time afterwards
  bool parents = false;    // of write, make_directory, rename, make_link: missing directories above
                           // the new entry are made (0755), and a directory may be there already
  bool exclusive = false;  // of write and rename: EEXIST where the entry is there already
  bool follow = false;     // of stat
  CORDON_FIELDS(FileRequest, self.request, self.act, self.path, self.offset, self.count, self.bytes,
                self.beneath, self.mode, self.modified, self.parents, self.exclusive, self.follow);
};

enum class FileType : std::uint8_t { file, directory, link, other };
constexpr FileType last_of(FileType) noexcept { return FileType::other; }

struct FileEntry {
  std::string name;
  FileType type = FileType::other;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;
  std::uint64_t modified = 0;  // nanoseconds since 1970
  std::string target;          // of a link
  std::uint32_t user = 0;      // ids inside
  std::uint32_t group = 0;
  std::uint64_t inode = 0;
  CORDON_FIELDS(FileEntry, self.name, self.type, self.size, self.mode, self.modified, self.target,
                self.user, self.group, self.inode);
};

struct FileReply {
  std::uint32_t request = 0;
  std::int32_t error_number = 0;
  std::string bytes;               // of read
  std::vector<FileEntry> entries;  // of list and stat; of read and write the file, without its name
  bool more = false;               // of list and remove: there is more to be asked for
  CORDON_FIELDS(FileReply, self.request, self.error_number, self.bytes, self.entries, self.more);
};

}  // namespace cordon::frame
