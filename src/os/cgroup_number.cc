// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_number.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace cordon::os {

std::optional<std::uint64_t> cgroup_number(std::span<const std::string> directories) {
  for (const std::string& directory : directories) {
    struct statfs kind{};
    struct stat st{};
    if (::statfs(directory.c_str(), &kind) != 0 || kind.f_type != CGROUP2_SUPER_MAGIC) continue;
    if (::stat(directory.c_str(), &st) == 0) return st.st_ino;
  }
  return std::nullopt;
}

}  // namespace cordon::os
