// SPDX-License-Identifier: Apache-2.0
// What a spawner puts on before it starts anything: the second descent as a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frame/fields.h"

namespace cordon::frame {

// Of pid 1, inside: an id that no system gives to people or services.
inline constexpr std::uint32_t kInitId = 65'533;

// How far Landlock lets a path be used, with all that lies below it.
enum class PathUse : std::uint8_t {
  read,       // read and list
  read_exec,  // and execute
  all,        // read, write, make, remove, execute
  device,     // read and write an existing device, with its ioctl calls
  list,       // list directories, and nothing else
};
constexpr PathUse last_of(PathUse) noexcept { return PathUse::list; }

struct PathRule {
  std::string path;  // inside; passed over where it does not exist
  PathUse use = PathUse::read;

  CORDON_FIELDS(PathRule, self.path, self.use);
};

// Limits that the kernel keeps by process. 0: as inherited.
struct ProcessLimits {
  std::uint64_t open_files = 0;
  std::uint64_t processes = 0;  // of this user in its user namespace
  std::uint64_t file_size = 0;
  std::uint64_t address_space = 0;

  CORDON_FIELDS(ProcessLimits, self.open_files, self.processes, self.file_size, self.address_space);
};

struct Fences {
  std::uint32_t uid = 0;  // inside
  std::uint32_t gid = 0;
  bool root_too = false;  // a process may be asked for as id 0, behind the same fences
  std::string filter;     // names a profile of os/filter
  std::vector<std::uint32_t> capabilities;  // numbers; of the sandbox's own user namespace
  std::int32_t landlock_abi = 0;            // 0: no Landlock here, and the Enforcement says so
  std::vector<PathRule> paths;
  ProcessLimits limits;

  CORDON_FIELDS(Fences, self.uid, self.gid, self.root_too, self.filter, self.capabilities,
                self.landlock_abi, self.paths, self.limits);
};

}  // namespace cordon::frame
