// SPDX-License-Identifier: Apache-2.0
// Starting our other programs: an id of their own, the descriptors they are given, and nothing
// else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"

namespace cordon::launcher {

struct OwnProgram {
  std::vector<std::string> arguments{};    // its name first
  std::span<const os::Fd* const> fds{};    // become descriptors 3, 4, …
  std::optional<std::uint32_t> id{};       // of user and group; absent: the launcher's own
  std::optional<std::uint32_t> group{};    // where it is another than `id`
  std::vector<std::string> environment{};  // the whole of it
  // It lives on when the launcher dies, and writes to the launcher's standard error. Of any other
  // 0, 1 and 2 are nobody's.
  bool is_own_master = false;
};

// Under an id that is not root's it has no capabilities, and gets none. Where it cannot be executed
// the child calls `failed` and ends.
Result<os::Child> start_own_program(const OwnProgram& program,
                                    const std::function<void(const Error&)>& failed);

}  // namespace cordon::launcher
