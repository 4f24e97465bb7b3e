// SPDX-License-Identifier: Apache-2.0
// Entries of an open directory: listed, made, moved, removed, always by directory and name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// The names in `dir`, without "." and "..", in the filesystem's order. `dir` is open for reading
// (not O_PATH); its position is left at the end, and the list starts at the beginning. More than
// `most` names is an error (exhausted), never a shorter list.
Result<std::vector<std::string>> list_directory(const Fd& dir, std::size_t most);
// At most `most` names: for work that removes them and asks again.
Result<std::vector<std::string>> list_some(const Fd& dir, std::size_t most);

Status mkdirat(const Fd& dir, const char* name, std::uint32_t mode);
Status symlinkat(const char* target, const Fd& dir, const char* name);
Result<std::string> readlinkat(const Fd& dir, const char* name);

// A second name for a file or a link, which is not followed.
Status linkat(const Fd& from, const char* old_name, const Fd& to, const char* new_name);

// The entry itself, never what a link leads to. `unlinkat` refuses directories, `rmdirat` all else
// and what is not empty.
Status unlinkat(const Fd& dir, const char* name);
Status rmdirat(const Fd& dir, const char* name);

enum class Replace : std::uint8_t { refuse, allow };
// Links are moved and replaced themselves. With `refuse`, `exists` when the new name is taken.
Status renameat(const Fd& from, const char* old_name, const Fd& to, const char* new_name,
                Replace replace);

// Of the open file itself, O_PATH included (but a link has no mode to change).
Status fchmod(const Fd& fd, std::uint32_t mode);
Status fchown(const Fd& fd, std::uint32_t uid, std::uint32_t gid);
// The owner of an entry that may be a link, which is not followed.
Status fchownat(const Fd& dir, const char* name, std::uint32_t uid, std::uint32_t gid);

// When it was changed and read last, in nanoseconds since 1970; a link itself.
Status set_modified(const Fd& dir, const char* name, std::uint64_t when);
// The same of the open file, O_PATH not included.
Status set_modified(const Fd& file, std::uint64_t when);

// All that was written to the filesystem of `fd` is on its disk.
Status syncfs(const Fd& fd);

}  // namespace cordon::os
