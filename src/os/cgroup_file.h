// SPDX-License-Identifier: Apache-2.0
// The forms that files of cgroupfs have: a number, "max", or lines of key and number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// The first number of the text; nothing for "max", for text and for numbers past 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text) noexcept;

// The number behind `key` in lines of "key number".
std::optional<std::uint64_t> parse_keyed(std::string_view text, std::string_view key) noexcept;

// Pids, one a line. 0, a process that our pid namespace does not show, is left out.
std::vector<pid_t> parse_pids(std::string_view text);

// The same from a file of the group `dir`; nothing when there is no such file or no such key.
std::optional<std::uint64_t> read_number(const Fd& dir, const char* file);
std::optional<std::uint64_t> read_keyed(const Fd& dir, const char* file, std::string_view key);

// Removes the group `name` of `parent` and all groups below it, which must hold no process. A group
// that is not there counts as removed. Waits at most `tries` milliseconds for the last process's
// end to be seen (`exists` after that).
Status remove_group_tree(const Fd& parent, const std::string& name, int tries);

// For groups of sandboxes: one that does not empty in this time holds a process in uninterruptible
// sleep; start-up reclaim finds it again.
inline constexpr int kRemovalTries = 2000;

}  // namespace cordon::os
