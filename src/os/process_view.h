// SPDX-License-Identifier: Apache-2.0
// What is seen of another process from outside: its memory, its names, where it stands. For who may
// trace it. It goes on meanwhile, and its id may be another's by the time the answer comes: nothing
// of this decides anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace cordon::os {

// Up to the first zero byte, or as many as `most`.
Result<std::string> read_text_of(pid_t pid, std::uint64_t address, std::size_t most);
Result<std::string> read_bytes_of(pid_t pid, std::uint64_t address, std::size_t length);
// The texts that a list of pointers points to, which ends with a zero; no more bytes than `most`.
std::vector<std::string> read_texts_of(pid_t pid, std::uint64_t address, std::size_t most);

struct ProcessNames {
  std::uint32_t inside = 0;  // its id in its own pid namespace
  pid_t parent = 0;          // its id in ours; 0: it is not there
  std::string command;       // the name of its first thread
};
Result<ProcessNames> names_of(pid_t pid);

// Where it works, as it sees it itself.
Result<std::string> directory_of(pid_t pid);
// What its descriptor is: a path as it sees it itself, or another name.
Result<std::string> descriptor_of(pid_t pid, int number);
// Its root, to look at and not into. Its mounts stay where they are as long as this is held, also
// when nobody lives in them any more.
struct HeldTree {
  Fd root;
  Fd mounts;
};
Result<HeldTree> tree_of(pid_t pid);

// A file in another's tree, looked at and not opened: no link of that tree leads out of it.
struct LookedAt {
  std::string path;  // as it is seen from `root`'s own mount namespace, without links
  std::uint32_t mode = 0;
  std::uint64_t mount = 0;  // its number
  bool read_only = false;   // its mount, or its file system
  bool no_exec = false;
};
// What is known of mounts, by their numbers, as long as nobody changes them: asked once for each.
using KnownMounts = std::map<std::uint64_t, unsigned long>;
// `path`: from `root` on. Follows a link at its end only where that is asked for.
Result<LookedAt> look_at(const Fd& root, const std::string& path, bool follow, KnownMounts& known);

}  // namespace cordon::os
