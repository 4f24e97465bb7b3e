// SPDX-License-Identifier: Apache-2.0
// Whole files and pipes: opened relative to a directory, read within a bound, never cut by a
// signal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Enough for the files of /proc and /sys that we read.
inline constexpr std::size_t kSmallFile = std::size_t{1} << 20U;

// Opens as the kernel resolves `path`, links and `..` included: for paths of our own choosing. What
// others chose goes through open_beneath. Adds O_CLOEXEC and O_NOCTTY.
Result<Fd> openat(const Fd& dir, const char* path, int flags, mode_t mode = 0);

// All up to the end of file. More than `most` bytes is an error (exhausted), never a truncation.
Result<std::string> read_all(const Fd& fd, std::size_t most);

// Returns when all is written. On an error an unknown part of it is.
Status write_all(const Fd& fd, std::string_view bytes);

Result<std::string> read_file(const Fd& dir, const char* path, std::size_t most = kSmallFile);

// Hands `text` to an existing file in exactly one write(2): files of /proc and cgroupfs take each
// write as one command. Makes and truncates nothing.
Status write_file(const Fd& dir, const char* path, std::string_view text);

// Makes a new file that did not exist, nor as a link (`exists` otherwise), and fills it.
Status create_file(const Fd& dir, const char* path, std::string_view bytes, mode_t mode);

struct Pipe {
  Fd read;
  Fd write;
};

// `flags`: O_NONBLOCK, O_DIRECT; O_CLOEXEC is added.
Result<Pipe> pipe2(int flags = 0);

}  // namespace cordon::os
