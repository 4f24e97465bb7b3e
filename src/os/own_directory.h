// SPDX-License-Identifier: Apache-2.0
// Directories and files that only the caller can have written.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Opens a directory of ours, and takes all rights of others to it away. `denied`: it is a link, or
// it belongs to somebody else.
Result<Fd> open_own_directory(const std::string& path);

// Opens a directory in which only the caller makes, renames and removes: its own, not writable by
// others, and reached without a link. Changes nothing. `denied` otherwise. `path` is absolute;
// empty means "/".
Result<Fd> open_guarded_directory(const std::string& path);

// All of a file that belongs to the caller, that nobody else may write, and that is no link.
// `denied` otherwise; more than `most` bytes is `exhausted`.
Result<std::string> read_own_file(const std::string& path, std::size_t most);
// The same for an entry of an open directory.
Result<std::string> read_own_file(const Fd& dir, const std::string& name, std::size_t most);

}  // namespace cordon::os
