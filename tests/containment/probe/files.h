// SPDX-License-Identifier: Apache-2.0
// Opening, reading and walking files, as the rows need it.
#pragma once

#include <fcntl.h>
#include <functional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include "probe.h"

namespace cordon::probe {

// Opens and closes again.
Answer try_open(const std::string& path, int flags, mode_t mode = 0600);
// Creates and removes again.
Answer try_create(const std::string& path);
// At most `limit` bytes; empty where it cannot be read.
std::string read_text(const std::string& path, std::size_t limit = 1 << 16);
// The open's error, or else the write's.
Answer try_write(const std::string& path, std::string_view text);
std::vector<std::string> names_in(const std::string& directory);
// The processes that /proc shows.
std::vector<std::string> pids();

struct Mount {
  std::string root;     // of the file system: what of it is mounted
  std::string point;    // where
  std::string options;  // of the mount
  std::string tags;     // shared:, master:
  std::string type;
  std::string source;
  std::string super;  // options of the file system

  bool has(std::string_view option) const;
  bool writable() const { return has("rw"); }
};
std::vector<Mount> mounts();
// The mount that `path` lies on, by the longest mount point; null where /proc shows none.
const Mount* mount_of(const std::vector<Mount>& all, const std::string& path);

// Calls `visit` for each entry below `top`, without following links; not for /proc and /sys below
// "/". `visit` returns false to stop. The type is that of readdir (DT_*).
void walk(const std::string& top,
          const std::function<bool(const std::string& path, unsigned char type)>& visit);

std::string current_directory();

// Runs `act` in a child; its value is the child's exit code, or 128 and the signal.
int in_child(const std::function<int()>& act, unsigned seconds = 10);
// As above; the child's answer comes back as it was.
Answer ask_child(const std::function<Answer()>& act);

}  // namespace cordon::probe
